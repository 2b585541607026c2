import type { SharedBytes } from '../../../ports/http.js';
import type { BodyStream } from './body-stream.js';

/** What goes back over the wire, before hapi or a raw socket sends it. */
export interface HttpResponse {
  status: number;
  /** Lower-case names. */
  headers: Record<string, string | string[]>;
  body: string | Buffer | SharedBytes | BodyStream | null;
  /** Sent as it is whatever the caller takes: its length must say nothing about what it holds. */
  uncompressed?: boolean;
}

/** Bytes of a body that is no stream. */
export const lengthOf = (body: string | Buffer | SharedBytes): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : body.length;
