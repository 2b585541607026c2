import { OutboundError } from '../../../../ports/outbound.js';
import type { StartTlsProtocol } from '../../../../ports/network-probe.js';
import type { ProtocolConnection } from './protocol-connection.js';

const createRefusalError = (reply: string): OutboundError =>
  new OutboundError('protocol', `the server does not accept STARTTLS: ${reply.slice(0, 100)}`);

async function readReply(wire: ProtocolConnection): Promise<string> {
  let line = await wire.readLine();
  while (/^\d{3}-/.test(line)) line = await wire.readLine();
  return line;
}

async function startSmtpTls(wire: ProtocolConnection): Promise<void> {
  const greeting = await readReply(wire);
  if (!greeting.startsWith('220')) throw createRefusalError(greeting);
  wire.write('EHLO probe.invalid\r\n');
  const hello = await readReply(wire);
  if (!hello.startsWith('250')) throw createRefusalError(hello);
  wire.write('STARTTLS\r\n');
  const reply = await readReply(wire);
  if (!reply.startsWith('220')) throw createRefusalError(reply);
}

async function startImapTls(wire: ProtocolConnection): Promise<void> {
  const greeting = await wire.readLine();
  if (!/^\* (?:OK|PREAUTH)\b/i.test(greeting)) throw createRefusalError(greeting);
  wire.write('a1 STARTTLS\r\n');
  let line = await wire.readLine();
  while (line.startsWith('* ')) line = await wire.readLine();
  if (!/^a1 OK\b/i.test(line)) throw createRefusalError(line);
}

async function startPop3Tls(wire: ProtocolConnection): Promise<void> {
  const greeting = await wire.readLine();
  if (!greeting.startsWith('+OK')) throw createRefusalError(greeting);
  wire.write('STLS\r\n');
  const reply = await wire.readLine();
  if (!reply.startsWith('+OK')) throw createRefusalError(reply);
}

const START_TLS_OID = '1.3.6.1.4.1.1466.20037';

/** Sends an extended request of RFC 4511 (message 1) with the StartTLS OID. */
async function startLdapTls(wire: ProtocolConnection): Promise<void> {
  const name = Buffer.from(START_TLS_OID);
  const request = Buffer.concat([Buffer.from([0x77, name.length + 2, 0x80, name.length]), name]);
  wire.write(Buffer.concat([Buffer.from([0x30, request.length + 3, 0x02, 0x01, 0x01]), request]));
  const [tag = 0, short = 0] = await wire.read(2);
  if (tag !== 0x30 || short === 0x80 || short > 0x82) throw createRefusalError('the response is not LDAP');
  const length = short < 0x80 ? short : (await wire.read(short & 0x0f)).reduce((sum, byte) => sum * 256 + byte, 0);
  const answer = await wire.read(length);
  // The first member of an extended response is the result code, an enumeration.
  const at = answer.indexOf(Buffer.from([0x0a, 0x01]));
  const code = at < 0 ? -1 : (answer[at + 2] ?? -1);
  if (!answer.includes(0x78) || code !== 0) throw createRefusalError(`LDAP result ${code}`);
}

/**
 * Runs the dialogue until the server expects the TLS handshake.
 * @throws OutboundError
 */
export const startTlsDialogues: Readonly<Record<StartTlsProtocol, (wire: ProtocolConnection) => Promise<void>>> = {
  smtp: startSmtpTls,
  imap: startImapTls,
  pop3: startPop3Tls,
  ldap: startLdapTls,
};
