/**
 * A self-signed certificate for localhost, 127.0.0.1 and hooks.test, good until 2126, and its key. They guard nothing:
 * a client refuses them unless a test gives it the certificate to trust.
 */
export const selfSigned = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgmrEbvfMMX3P8UjWS
saUZQfgcK197ruzxM1xjYQF3AJWhRANCAARRApXE7LjQmHFU/d4sv1hAdMsEM3sZ
Y1HpZ42a/j4KbDZJployrHDvj/52X3zxQSm2WrwC27DfV3kxYARpxUOB
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBpjCCAU2gAwIBAgIUVYhnctx6PjBIJnyaLDb9uk5RhpAwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTAyMzYxNFoYDzIxMjYxMDI4
MDIzNjE0WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARRApXE7LjQmHFU/d4sv1hAdMsEM3sZY1HpZ42a/j4KbDZJployrHDv
j/52X3zxQSm2WrwC27DfV3kxYARpxUOBo3sweTAdBgNVHQ4EFgQUA5nUkweMy8O8
SeE/vmExrs94CMwwHwYDVR0jBBgwFoAUA5nUkweMy8O8SeE/vmExrs94CMwwDwYD
VR0TAQH/BAUwAwEB/zAmBgNVHREEHzAdgglsb2NhbGhvc3SCCmhvb2tzLnRlc3SH
BH8AAAEwCgYIKoZIzj0EAwIDRwAwRAIgcQz+gL2jHuaahAsNoJ4d9Yfen+2DrzL8
VaQU1ipWoQ4CICdi5uh6YjjHPX9AfhUOfihIGbTz12ct2R9LISmq5xrl
-----END CERTIFICATE-----`
}
