import { OutboundError } from '../../../../ports/outbound.js';
import type { DatabaseKind } from '../../../../ports/network-probe.js';
import type { ProtocolConnection } from './protocol-connection.js';

const createProtocolError = (message: string): OutboundError => new OutboundError('protocol', message);
const createUnexpectedReplyError = (name: string): OutboundError =>
  createProtocolError(`the response is not from ${name}`);
const cleanText = (text: string): string => text.slice(0, 150);

/** Accepts `PONG` or an authentication error. */
async function pingRedis(wire: ProtocolConnection): Promise<string> {
  wire.write('*1\r\n$4\r\nPING\r\n');
  const line = await wire.readLine();
  if (line === '+PONG') return 'PONG';
  if (/^-(?:NOAUTH|NOPERM)\b/.test(line)) return 'it requires a password';
  if (line.startsWith('-')) throw createProtocolError(`Redis reports: ${cleanText(line.slice(1))}`);
  throw createUnexpectedReplyError('Redis');
}

function buildPostgresqlStartup(): Buffer {
  const body = Buffer.from('user\0probe\0database\0postgres\0application_name\0aos\0\0');
  const head = Buffer.alloc(8);
  head.writeInt32BE(body.length + 8, 0);
  head.writeInt32BE(196_608, 4);
  return Buffer.concat([head, body]);
}

const POSTGRESQL_DOWN_CODES = new Set(['57P01', '57P02', '57P03', '53300', '58000', 'XX000']);

async function pingPostgresql(wire: ProtocolConnection): Promise<string> {
  wire.write(buildPostgresqlStartup());
  const head = await wire.read(5);
  const type = String.fromCharCode(head[0] ?? 0);
  const length = head.readInt32BE(1) - 4;
  if (!'RENv'.includes(type) || length < 0 || length > 30_000) throw createUnexpectedReplyError('PostgreSQL');
  if (type !== 'E') return 'it accepts connections';
  const fields = (await wire.read(length)).toString('utf8').split('\0');
  const field = (name: string): string => fields.find((one) => one.startsWith(name))?.slice(1) ?? '';
  if (POSTGRESQL_DOWN_CODES.has(field('C'))) throw createProtocolError(`PostgreSQL reports: ${cleanText(field('M'))}`);
  return 'it accepts connections';
}

/** Protocol 10 and its version, or an error. */
async function pingMysql(wire: ProtocolConnection): Promise<string> {
  const head = await wire.read(4);
  const length = head.readUIntLE(0, 3);
  if (length < 3 || length > 30_000 || head[3] !== 0) throw createUnexpectedReplyError('MySQL');
  const body = await wire.read(length);
  if (body[0] === 0xff) throw createProtocolError(`MySQL reports: ${cleanText(body.subarray(3).toString('utf8'))}`);
  if (body[0] !== 10) throw createUnexpectedReplyError('MySQL');
  return cleanText(`version ${body.subarray(1, Math.max(1, body.indexOf(0, 1))).toString('latin1')}`);
}

/** `{ping: 1, $db: "admin"}` in BSON. */
const MONGODB_PING = Buffer.from('1e0000001070696e67000100000002246462000600000061646d696e0000', 'hex');
const OP_MSG = 2013;
const MONGODB_OK = Buffer.from('016f6b00000000000000f03f', 'hex');

async function pingMongodb(wire: ProtocolConnection): Promise<string> {
  const head = Buffer.alloc(21);
  head.writeInt32LE(head.length + MONGODB_PING.length, 0);
  head.writeInt32LE(1, 4);
  head.writeInt32LE(OP_MSG, 12);
  wire.write(Buffer.concat([head, MONGODB_PING]));
  const answer = await wire.read(16);
  const length = answer.readInt32LE(0);
  if (answer.readInt32LE(8) !== 1 || answer.readInt32LE(12) !== OP_MSG || length < 26 || length > 48_000)
    throw createUnexpectedReplyError('MongoDB');
  const body = await wire.read(length - 16);
  if (body.includes(MONGODB_OK)) return 'ok';
  const message = /errmsg\0[^]{4}([\x20-\x7e]{1,150})/.exec(body.toString('latin1'))?.[1] ?? 'the ping failed';
  throw createProtocolError(`MongoDB reports: ${message}`);
}

/** @throws OutboundError */
export const databasePings: Readonly<Record<DatabaseKind, (wire: ProtocolConnection) => Promise<string>>> = {
  redis: pingRedis,
  postgresql: pingPostgresql,
  mysql: pingMysql,
  mongodb: pingMongodb,
};
