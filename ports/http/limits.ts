/** Limits of the web server (contract 00, limits). */
export interface HttpLimits {
  json_bytes: number;
  inflated_bytes: number;
  intake_per_minute: number;
  intake_burst: number;
  api_per_minute: number;
  bulk_per_minute: number;
  auth_failures_per_minute: number;
  public_per_minute: number;
}
