import type { SharedBytes } from '../../../ports/http.js';
import type { BodyStream } from './body-stream.js';

/** An answer before hapi or a raw socket sends it. */
export interface HttpResponse {
  status: number;
  /** Lower-case names. */
  headers: Record<string, string | string[]>;
  body: string | Buffer | SharedBytes | BodyStream | null;
  /** Sent uncompressed whatever the client accepts: its length must say nothing about its content. */
  uncompressed?: boolean;
}

/** The length of a body that is no stream, in bytes. */
export const lengthOf = (body: string | Buffer | SharedBytes): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : body.length;
