/** Structured log lines. Secrets are redacted by field name in the adapter; never log a body from outside whole. */
export interface Logger {
  debug(data: object, message: string): void;
  info(data: object, message: string): void;
  warn(data: object, message: string): void;
  error(data: object, message: string): void;
  child(bindings: object): Logger;
}
