import type { BodyStream } from '../streams/body-stream.js';

/** What goes back over the wire, before hapi or a raw socket sends it. */
export interface HttpResponse {
  status: number;
  /** Lower-case names. */
  headers: Record<string, string | string[]>;
  body: string | Buffer | BodyStream | null;
  /** Sent as it is whatever the caller takes: its length must say nothing about what it holds. */
  uncompressed?: boolean;
}
