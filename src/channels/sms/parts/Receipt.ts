/** What a provider tells of a part after it took it. Only what settles its fate is one. */
export interface Receipt {
  readonly provider: string
  readonly provider_message_id: string
  readonly state: "delivered" | "failed"
  readonly error_code: string | null
  readonly error_message: string | null
}
