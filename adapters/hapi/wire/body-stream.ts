/** A body that is written piece by piece, straight to the socket. */
import type { ServerResponse } from 'node:http';
import type { SharedBytes } from '../../../ports/http.js';

export interface BodyStream {
  /** For `content-length`; null: not known (events). */
  readonly bytes: number | null;
  /** The head has been sent. Ends the response or destroys it; never rejects. */
  send(res: ServerResponse): Promise<void>;
}

export const isBodyStream = (body: string | Buffer | SharedBytes | BodyStream | null): body is BodyStream =>
  typeof body === 'object' && body !== null && 'send' in body;
