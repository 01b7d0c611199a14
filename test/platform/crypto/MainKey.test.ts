import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, FileSystem, Layer } from "effect"
import * as NodePath from "node:path"
import { AppConfig } from "../../../src/platform/config/AppConfig.ts"
import { MainVault } from "../../../src/platform/crypto/MainKey.ts"

describe("the generated main key", () => {
  it.effect("is on the disk before it has its name, and its name before a value is sealed", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped()
      const steps: Array<string> = []
      const noted = (step: string) => Effect.sync(() => void steps.push(step))
      const nameOf = (path: string) => NodePath.relative(directory, path).replace(/[0-9a-f]{12}$/, "new")
      const recording = FileSystem.FileSystem.of({
        ...fs,
        open: (path, options) =>
          Effect.map(fs.open(path, options), (file) =>
            Object.create(file, {
              sync: { value: Effect.andThen(file.sync, noted(`sync ${nameOf(path)}`)) }
            })),
        link: (from, to) => Effect.andThen(fs.link(from, to), noted(`link ${nameOf(from)} ${nameOf(to)}`))
      })
      const settings = ConfigProvider.layer(ConfigProvider.fromUnknown({ DATA_DIR: directory }))
      yield* Layer.build(MainVault.pipe(
        Layer.provide([AppConfig.layer.pipe(Layer.provide(settings)), Layer.succeed(FileSystem.FileSystem, recording)])
      ))
      assert.deepStrictEqual(steps, [
        "sync encryption.key.new",
        "link encryption.key.new encryption.key",
        "sync "
      ])
      assert.deepStrictEqual(yield* fs.readDirectory(directory), ["encryption.key"])
    }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer)))
})
