import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import * as NodeProcess from "node:process"

/** A receiver's input: its secret, the body and the headers, names in lower case. */
export interface Arrival {
  readonly secret: string
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string>>
}

/** A snippet's verdict: whether `X-Service-Signature` and `webhook-signature` are valid. */
export type Verdict = readonly [service: boolean, standard: boolean]

/** One snippet of docs/webhooks/snippets and how to run it. */
export interface Snippet {
  readonly language: string
  readonly file: string
  /** The language after the fence on the page. */
  readonly fence: string
  readonly program: string
  /** Arguments without effect, to test whether the program is installed. */
  readonly probe: ReadonlyArray<string>
  /** Files of a receiver around the snippet, by name, and the arguments that start it. */
  readonly receiver: (arrivals: ReadonlyArray<Arrival>) => {
    readonly place: string
    readonly files: Readonly<Record<string, string>>
    readonly args: ReadonlyArray<string>
  }
}

const node = `import { readFileSync } from "node:fs"
import { verifyServiceSignature, verifyStandardSignature } from "./verify.mjs"
const verdicts = JSON.parse(readFileSync("arrivals.json", "utf8")).map(({ body, headers, secret }) =>
  [verifyServiceSignature, verifyStandardSignature].map((verify) => verify(secret, Buffer.from(body, "base64"), headers)))
console.log(JSON.stringify(verdicts))
`

const python = `import base64, json
from verify import verify_service_signature, verify_standard_signature
arrivals = json.load(open("arrivals.json", encoding="utf-8"))
print(json.dumps([[verify(it["secret"], base64.b64decode(it["body"]), it["headers"])
  for verify in (verify_service_signature, verify_standard_signature)] for it in arrivals]))
`

const php = `<?php
declare(strict_types=1);
require 'verify.php';
$verdicts = [];
foreach (json_decode(file_get_contents('arrivals.json'), true) as $it) {
  $arguments = [$it['secret'], base64_decode($it['body']), $it['headers']];
  $verdicts[] = [verify_service_signature(...$arguments), verify_standard_signature(...$arguments)];
}
echo json_encode($verdicts);
`

const go = `package main

import (
	"encoding/json"
	"example.com/receiver/webhooks"
	"fmt"
	"net/http"
	"os"
)

func main() {
	text, _ := os.ReadFile("arrivals.json")
	var arrivals []struct {
		Secret  string
		Body    []byte
		Headers map[string]string
	}
	if err := json.Unmarshal(text, &arrivals); err != nil {
		panic(err)
	}
	verdicts := [][]bool{}
	for _, it := range arrivals {
		headers := http.Header{}
		for name, value := range it.Headers {
			headers.Set(name, value)
		}
		verdicts = append(verdicts, []bool{
			webhooks.VerifyServiceSignature(it.Secret, it.Body, headers),
			webhooks.VerifyStandardSignature(it.Secret, it.Body, headers),
		})
	}
	answer, _ := json.Marshal(verdicts)
	fmt.Println(string(answer))
}
`

const word = (text: string | undefined) => `'${(text ?? "").replaceAll("'", `'\\''`)}'`

/** A shell cannot read JSON, so the arrivals are written into its receiver. */
const shell = (arrivals: ReadonlyArray<Arrival>) => {
  const calls = arrivals.flatMap(({ body, headers, secret }, index) => {
    const of = (...names: ReadonlyArray<string>) => names.map((name) => word(headers[name])).join(" ")
    return [
      `printf %s ${word(body.toString("base64"))} | openssl base64 -d -A >body${index}`,
      `say verify_service_signature ${word(secret)} body${index} ${
        of("x-service-signature", "x-service-signature-previous")
      }`,
      `say verify_standard_signature ${word(secret)} body${index} ${
        of("webhook-id", "webhook-timestamp", "webhook-signature")
      }`
    ]
  })
  return ["set -u", ". ./verify.sh", `say() { if "$@"; then echo true; else echo false; fi; }`, ...calls].join("\n")
}

const json = (arrivals: ReadonlyArray<Arrival>) =>
  JSON.stringify(arrivals.map(({ body, ...arrival }) => ({ ...arrival, body: body.toString("base64") })))

/** Every snippet of the page, in order. */
export const snippets: ReadonlyArray<Snippet> = [
  {
    language: "Node",
    file: "verify.mjs",
    fence: "js",
    program: NodeProcess.execPath,
    probe: ["--version"],
    receiver: (arrivals) => ({
      place: "verify.mjs",
      files: { "arrivals.json": json(arrivals), "receiver.mjs": node },
      args: ["receiver.mjs"]
    })
  },
  {
    language: "Python",
    file: "verify.py",
    fence: "python",
    program: "python3",
    probe: ["--version"],
    receiver: (arrivals) => ({
      place: "verify.py",
      files: { "arrivals.json": json(arrivals), "receiver.py": python },
      args: ["receiver.py"]
    })
  },
  {
    language: "PHP",
    file: "verify.php",
    fence: "php",
    program: "php",
    probe: ["--version"],
    receiver: (arrivals) => ({
      place: "verify.php",
      files: { "arrivals.json": json(arrivals), "receiver.php": php },
      args: ["receiver.php"]
    })
  },
  {
    language: "Go",
    file: "verify.go",
    fence: "go",
    program: "go",
    probe: ["version"],
    receiver: (arrivals) => ({
      place: "webhooks/verify.go",
      files: {
        "arrivals.json": json(arrivals),
        "go.mod": "module example.com/receiver\n\ngo 1.19\n",
        "main.go": go
      },
      args: ["run", "."]
    })
  },
  {
    language: "a shell with openssl",
    file: "verify.sh",
    fence: "sh",
    program: "sh",
    probe: ["-c", "command -v openssl od"],
    receiver: (arrivals) => ({
      place: "verify.sh",
      files: { "receiver.sh": shell(arrivals) },
      args: ["receiver.sh"]
    })
  }
]

/** Whether the program is installed. */
export const isRunnable = ({ probe, program }: Snippet): boolean =>
  NodeChildProcess.spawnSync(program, probe, { stdio: "ignore" }).status === 0

/** Runs the snippet in a receiver in this folder and returns its verdict for each arrival. */
export const judge = (
  { program, receiver }: Snippet,
  text: string,
  { arrivals, folder }: { readonly arrivals: ReadonlyArray<Arrival>; readonly folder: string }
): ReadonlyArray<Verdict> => {
  const { args, files, place } = receiver(arrivals)
  for (const [name, content] of Object.entries({ ...files, [place]: text })) {
    NodeFs.mkdirSync(NodePath.dirname(NodePath.join(folder, name)), { recursive: true })
    NodeFs.writeFileSync(NodePath.join(folder, name), content)
  }
  const env = {
    PATH: NodeProcess.env["PATH"],
    HOME: NodeProcess.env["HOME"],
    GOTOOLCHAIN: "local",
    GOFLAGS: "-mod=mod"
  }
  const output = NodeChildProcess.execFileSync(program, args, { cwd: folder, encoding: "utf8", env })
  if (output.startsWith("[")) return JSON.parse(output)
  const words = output.trim().split("\n").map((line) => line === "true")
  return arrivals.map((_, index) => [words[2 * index] ?? false, words[2 * index + 1] ?? false])
}
