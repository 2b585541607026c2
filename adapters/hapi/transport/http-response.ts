import type { BodyStream } from '../streams/body-stream.js';

/** What goes back over the wire, before hapi or a raw socket sends it. */
export interface HttpResponse {
  status: number;
  /** Lower-case names. */
  headers: Record<string, string | string[]>;
  body: string | Buffer | BodyStream | null;
}
