import type { SharedBytes } from './shared-bytes.js';

/**
 * Cookie of this host, HttpOnly, SameSite=Lax; with https also Secure and named `__Host-<name>`.
 */
export interface Cookie {
  name: string;
  value: string | null;
  /** Absent: session cookie. */
  maxAgeSeconds?: number;
}

/** Response headers and cookies. */
export abstract class Answer {
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

/** Response other than 200 with an object. */
export class Reply extends Answer {
  constructor(
    readonly status: number,
    /** Objects are sent as JSON in the envelope; text and bytes unchanged. */
    readonly body: object | string | Buffer | SharedBytes | null,
  ) {
    super();
  }
}

/** Returns 201 with the envelope. */
export const created = (body: object): Reply => new Reply(201, body);
/** Returns text of any type, without envelope. */
export const text = (body: string | Buffer | SharedBytes, type = 'text/plain; charset=utf-8', status = 200): Reply =>
  new Reply(status, body).header('content-type', type);
/** Returns a CSV file as a download; `name` without its extension. */
export const createCsvFile = (name: string, body: string): Reply =>
  text(body, 'text/csv; charset=utf-8')
    .header('cache-control', 'no-store')
    .header('content-disposition', `attachment; filename="${name}.csv"`);
