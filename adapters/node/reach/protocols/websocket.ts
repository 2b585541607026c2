/** The opening handshake of a WebSocket (RFC 6455). */
import { createHash, randomBytes } from 'node:crypto';
import { OutboundError } from '../../../../ports/outbound.js';
import type { ProtocolConnection } from './protocol-connection.js';

const HANDSHAKE_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const HANDSHAKE_HEADERS = new Set(['host', 'connection', 'upgrade', 'content-length', 'transfer-encoding']);
const CLOSE_FRAME = Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8]);

/**
 * @param host value of the `Host` header
 * @throws OutboundError
 */
export async function openWebSocket(
  wire: ProtocolConnection,
  { pathname, search }: URL,
  host: string,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const key = randomBytes(16).toString('base64');
  const own = Object.entries(headers).filter(
    ([name]) => !HANDSHAKE_HEADERS.has(name.toLowerCase()) && !/^sec-websocket-key$/i.test(name),
  );
  const lines = [
    `GET ${pathname}${search} HTTP/1.1`,
    `Host: ${host}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    `Sec-WebSocket-Key: ${key}`,
    ...(own.some(([name]) => /^sec-websocket-version$/i.test(name)) ? [] : ['Sec-WebSocket-Version: 13']),
    ...own.map(([name, value]) => `${name}: ${value}`),
  ];
  wire.write(`${lines.join('\r\n')}\r\n\r\n`);
  const [status = '', ...answer] = (await wire.readUntil('\r\n\r\n')).split('\r\n');
  const code = /^HTTP\/1\.[01] (\d{3})\b/.exec(status)?.[1];
  if (code === undefined) throw new OutboundError('protocol', 'the response is not HTTP');
  if (code !== '101') throw new OutboundError('protocol', `HTTP ${code} instead of a WebSocket`);
  const accept = answer
    .find((line) => /^sec-websocket-accept\s*:/i.test(line))
    ?.replace(/^[^:]*:\s*/, '')
    .trim();
  if (
    accept !==
    createHash('sha1')
      .update(key + HANDSHAKE_GUID)
      .digest('base64')
  )
    throw new OutboundError('protocol', 'the server did not accept the WebSocket key');
  wire.write(CLOSE_FRAME);
}
