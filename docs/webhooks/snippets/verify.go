package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// secret: as it was shown, whsec_ included
// body: io.ReadAll(request.Body), before anything has parsed it

func VerifyServiceSignature(secret string, body []byte, headers http.Header) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	expected := []byte(hex.EncodeToString(mac.Sum(nil)))
	return hmac.Equal(expected, []byte(headers.Get("X-Service-Signature"))) ||
		hmac.Equal(expected, []byte(headers.Get("X-Service-Signature-Previous")))
}

func VerifyStandardSignature(secret string, body []byte, headers http.Header) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	timestamp := headers.Get("Webhook-Timestamp")
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(headers.Get("Webhook-Id") + "." + timestamp + "."))
	mac.Write(body)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	for _, given := range strings.Split(headers.Get("Webhook-Signature"), " ") {
		if hmac.Equal(expected, []byte(given)) {
			seconds, err := strconv.ParseInt(timestamp, 10, 64)
			return err == nil && time.Since(time.Unix(seconds, 0)).Abs() <= 300*time.Second
		}
	}
	return false
}
