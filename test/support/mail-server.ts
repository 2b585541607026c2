/** An SMTP server that stores every mail, unless a test rejects recipients. */
import type { AddressInfo } from 'node:net';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';

export class MailServer {
  readonly raw: string[] = [];
  readonly recipients: string[][] = [];
  reject: (address: string) => Error | null = () => null;
  readonly #server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo: ({ address }, _session, done) => done(this.reject(address)),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        this.raw.push(Buffer.concat(chunks).toString('utf8'));
        this.recipients.push(session.envelope.rcptTo.map(({ address }) => address));
        done();
      });
    },
  });

  async start(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.server.address() as AddressInfo).port;
  }

  parseMails(): Promise<Awaited<ReturnType<typeof PostalMime.parse>>[]> {
    return Promise.all(this.raw.map((one) => PostalMime.parse(one)));
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

export const buildMailSettings = (port: number): Record<string, string> => ({
  SVC_NOTIFICATIONS__SMTP_HOST: '127.0.0.1',
  SVC_NOTIFICATIONS__SMTP_PORT: String(port),
  SVC_NOTIFICATIONS__SMTP_SECURITY: 'none',
  SVC_NOTIFICATIONS__SMTP_FROM: 'AOS <aos@example.org>',
});
