import type { ServerResponse } from 'node:http';
import type { SharedBytes } from '../../../ports/http/index.js';

export interface BodyStream {
  readonly bytes: number | null;
  /** Ends or destroys the response; never rejects. */
  send(res: ServerResponse): Promise<void>;
}

export const isBodyStream = (body: string | Buffer | SharedBytes | BodyStream | null): body is BodyStream =>
  typeof body === 'object' && body !== null && 'send' in body;
