/** What a handler answers when it is more than 200 with an object. */
import type { SharedBytes } from './shared-bytes.js';

/**
 * Sent for every path of this host, HttpOnly, SameSite=Lax; under https it is Secure and travels as `__Host-<name>`.
 */
export interface Cookie {
  /** Without `__Host-`, as in `HttpRequest.cookies`. */
  name: string;
  /** null deletes it. */
  value: string | null;
  /** Absent: until the browser closes. */
  maxAgeSeconds?: number;
}

/** What an answer carries beside its body. */
export abstract class Answer {
  /** By lower-case name, beside those that the server sends with every answer. */
  readonly headers: Record<string, string> = {};
  readonly cookies: Cookie[] = [];

  header(name: string, value: string): this {
    this.headers[name.toLowerCase()] = value;
    return this;
  }

  cookie(cookie: Cookie): this {
    this.cookies.push(cookie);
    return this;
  }
}

/** An answer other than 200 with an object. Handlers return plain objects for 200. */
export class Reply extends Answer {
  constructor(
    readonly status: number,
    /**
     * An object is sent as JSON inside the envelope; text and bytes as they are, with `content-type` from `headers`.
     */
    readonly body: object | string | Buffer | SharedBytes | null,
  ) {
    super();
  }
}

/** 201 with the envelope. */
export const created = (body: object): Reply => new Reply(201, body);
/** Text of any type, outside the envelope. */
export const text = (body: string | Buffer | SharedBytes, type = 'text/plain; charset=utf-8', status = 200): Reply =>
  new Reply(status, body).header('content-type', type);
