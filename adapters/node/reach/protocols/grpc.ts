import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2';
import type { Socket } from 'node:net';
import { OutboundError } from '../../../../ports/outbound.js';
import type { Deadlines } from '../../deadlines.js';

const SERVING_STATES = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];
const MAX_RESPONSE_BYTES = 4_096;
const STATUS_MESSAGES: Readonly<Record<string, string>> = {
  '5': 'NOT_FOUND: the service does not exist',
  '12': 'UNIMPLEMENTED: the server has no health check',
  '14': 'UNAVAILABLE',
  '16': 'UNAUTHENTICATED',
};

function buildHealthRequest(service: string): Buffer {
  const name = Buffer.from(service);
  // A name has at most 120 bytes, so its length is one byte.
  const message = name.length === 0 ? name : Buffer.concat([Buffer.from([0x0a, name.length]), name]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** Status of `HealthCheckResponse{status}`; absent means 0. */
const parseServingState = (message: Buffer): string =>
  SERVING_STATES[message[5] === 0x08 ? (message[6] ?? 0) : 0] ?? 'UNKNOWN';

/** @throws OutboundError */
export function checkGrpcHealth(socket: Socket, authority: string, service: string, clock: Deadlines): Promise<void> {
  return new Promise((resolve, reject) => {
    let session: ClientHttp2Session | null = null;
    const fail = (fault: OutboundError): void => {
      session?.destroy();
      reject(fault);
    };
    clock.onFault(fail);
    const rejectAnswer = (): void => fail(new OutboundError('protocol', 'the response is not gRPC'));
    const rejectClosed = (): void =>
      fail(new OutboundError('reset', 'the connection was closed before the response was complete'));
    const broken = ({ code = '' }: NodeJS.ErrnoException): void =>
      code.startsWith('ERR_HTTP2_') ? rejectAnswer() : rejectClosed();
    session = connect(`http://${authority}`, { createConnection: () => socket });
    session.on('error', broken);
    session.on('close', rejectClosed);
    const stream = session.request({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    let chunks = Buffer.alloc(0);
    let headers: IncomingHttpHeaders = {};
    stream.on('response', (given) => (headers = given));
    stream.on('trailers', (given) => (headers = { ...headers, ...given }));
    stream.on('data', (chunk: Buffer) => {
      if (chunks.length < MAX_RESPONSE_BYTES) chunks = Buffer.concat([chunks, chunk]);
    });
    stream.on('error', broken);
    stream.on('close', () => {
      const http = Number(headers[':status']);
      const code = [headers['grpc-status'] ?? []].flat()[0];
      const state = parseServingState(chunks);
      if (headers[':status'] === undefined) rejectClosed();
      else if (http !== 200) fail(new OutboundError('protocol', `HTTP ${http} instead of gRPC`));
      else if (code === undefined) rejectAnswer();
      else if (code !== '0')
        fail(new OutboundError('protocol', `gRPC reports ${STATUS_MESSAGES[code] ?? `status ${code}`}`));
      else if (state !== 'SERVING') fail(new OutboundError('protocol', `the service is ${state}`));
      else {
        resolve();
        session?.destroy();
      }
    });
    stream.end(buildHealthRequest(service));
  });
}
