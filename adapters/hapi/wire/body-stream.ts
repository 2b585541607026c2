/** A body that is written piece by piece, straight to the socket. */
import type { ServerResponse } from 'node:http';
import type { SharedBytes } from '../../../ports/http.js';

export interface BodyStream {
  /** The value of `content-length`; null: not known (events). */
  readonly bytes: number | null;
  /** Sends the body after the head. Ends the response or destroys it; never rejects. */
  send(res: ServerResponse): Promise<void>;
}

export const isBodyStream = (body: string | Buffer | SharedBytes | BodyStream | null): body is BodyStream =>
  typeof body === 'object' && body !== null && 'send' in body;
