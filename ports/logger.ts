/**
 * Structured logger. The adapter redacts secrets by field name; never log a whole external body.
 */
export interface Logger {
  debug(data: object, message: string): void;
  info(data: object, message: string): void;
  warn(data: object, message: string): void;
  error(data: object, message: string): void;
  child(bindings: object): Logger;
}
