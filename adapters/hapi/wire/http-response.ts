import type { SharedBytes } from '../../../ports/http/index.js';
import type { BodyStream } from './body-stream.js';

export interface HttpResponse {
  status: number;
  headers: Record<string, string | string[]>;
  body: string | Buffer | SharedBytes | BodyStream | null;
  /** Never compressed, so that its length reveals nothing about its content. */
  uncompressed?: boolean;
}

export const getBodyLength = (body: string | Buffer | SharedBytes): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : body.length;
