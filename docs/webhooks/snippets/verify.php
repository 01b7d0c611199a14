<?php

declare(strict_types=1);

// $secret: as it was shown, whsec_ included
// $body: file_get_contents('php://input'), before anything has parsed it
// $headers: array_change_key_case(getallheaders()), so names in lower case

function verify_service_signature(string $secret, string $body, array $headers): bool
{
    $expected = hash_hmac('sha256', $body, $secret);

    return hash_equals($expected, $headers['x-service-signature'] ?? '')
        || hash_equals($expected, $headers['x-service-signature-previous'] ?? '');
}

function verify_standard_signature(string $secret, string $body, array $headers): bool
{
    $key = base64_decode(preg_replace('/^whsec_/', '', $secret));
    $id = $headers['webhook-id'] ?? '';
    $timestamp = $headers['webhook-timestamp'] ?? '';
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    foreach (explode(' ', $headers['webhook-signature'] ?? '') as $given) {
        if (hash_equals($expected, $given)) {
            return abs(time() - (int) $timestamp) <= 300;
        }
    }

    return false;
}
