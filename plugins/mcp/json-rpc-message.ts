/**
 * Too deep or too large JSON is rejected before the protocol library validates it recursively.
 * Invalid JSON is a JSON-RPC parse error, the only kind that MCP clients understand.
 */
export const PARSE_ERROR_CODE = -32_700;
export const INVALID_REQUEST_CODE = -32_600;

const MAX_JSON_DEPTH = 64;
const MAX_JSON_VALUES = 10_000;

export class InvalidMessage {
  constructor(
    readonly code: typeof PARSE_ERROR_CODE | typeof INVALID_REQUEST_CODE,
    readonly message: string,
  ) {}
}

const utf8Decoder = new TextDecoder('utf-8', { fatal: true });

/** Returns the message, an array for a batch, or the error. */
export function readMessage(bytes: Uint8Array): { body: unknown } | InvalidMessage {
  let body: unknown;
  try {
    body = JSON.parse(utf8Decoder.decode(bytes));
  } catch {
    return new InvalidMessage(PARSE_ERROR_CODE, 'Parse error: the body is not JSON in UTF-8.');
  }
  if (typeof body !== 'object' || body === null) {
    return new InvalidMessage(INVALID_REQUEST_CODE, 'Invalid request: the body is not a JSON-RPC message.');
  }
  if (!isWithinLimits(body)) {
    return new InvalidMessage(
      INVALID_REQUEST_CODE,
      `Invalid request: at most ${MAX_JSON_VALUES} values in ${MAX_JSON_DEPTH} levels are allowed.`,
    );
  }
  return Array.isArray(body) ? validateBatch(body) : { body };
}

function validateBatch(messages: unknown[]): { body: unknown[] } | InvalidMessage {
  if (messages.length === 0) return new InvalidMessage(INVALID_REQUEST_CODE, 'Invalid request: the batch is empty.');
  // Cancellations are ignored: no earlier request is running, and a cancelled request of the same
  // batch would get no response.
  return { body: messages.filter((message) => !isCancellation(message)) };
}

export const isCancellation = (message: unknown): boolean =>
  typeof message === 'object' &&
  message !== null &&
  'method' in message &&
  message.method === 'notifications/cancelled';

function isWithinLimits(root: object): boolean {
  let level: object[] = [root];
  let values = 1;
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_JSON_DEPTH) return false;
    const next: object[] = [];
    for (const parent of level) {
      const children = Object.values(parent) as unknown[];
      values += children.length;
      if (values > MAX_JSON_VALUES) return false;
      for (const child of children) if (typeof child === 'object' && child !== null) next.push(child);
    }
    level = next;
  }
  return true;
}

/** Returns the number of calls. Only a body that starts like a batch is parsed. */
export function countMessages(bytes: Uint8Array): number {
  const first = bytes.find((byte) => byte > 0x20);
  if (first !== 0x5b) return 1;
  const read = readMessage(bytes);
  return !(read instanceof InvalidMessage) && Array.isArray(read.body) ? Math.max(1, read.body.length) : 1;
}
