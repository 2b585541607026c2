/** A real name server on loopback: dnsmasq, where this machine has it (Debian: dnsmasq-base). */
import { spawn } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { isAvailable } from '../../../support/requirements.js';

export interface NameServer {
  /** `127.0.0.1:port` */
  address: string;
  stop(): Promise<void>;
}

/** Among them those of the system, where a program of this kind lies and users do not look. */
const FOLDERS = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
const DNSMASQ = FOLDERS.map((folder) => join(folder, 'dnsmasq')).find((path) => existsSync(path));

/** What it knows; names below `slow.test` are passed on to a server that never answers. */
const ZONE = [
  '--host-record=web.probe.test,10.1.2.3,fd00::3',
  '--host-record=here.probe.test,127.0.0.1',
  '--host-record=meta.probe.test,169.254.169.254',
  '--cname=www.probe.test,web.probe.test',
  '--txt-record=probe.test,v=spf1 -all',
  '--txt-record=long.probe.test,first ,second',
  '--mx-host=probe.test,mail.probe.test,10',
  '--srv-host=_sip._tcp.probe.test,sip.probe.test,5060,1,2',
  '--local=/probe.test/',
];

async function bound(): Promise<Socket> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return socket;
}
const closed = (socket: Socket): Promise<void> => new Promise((resolve) => socket.close(() => resolve()));

/** Null when this machine has no dnsmasq. */
export async function nameServer(): Promise<NameServer | null> {
  if (!isAvailable('dns', DNSMASQ !== undefined) || DNSMASQ === undefined) return null;
  const [silent, free] = [await bound(), await bound()];
  const { port } = free.address();
  await closed(free);
  const child = spawn(
    DNSMASQ,
    [
      '--no-daemon',
      '--conf-file=/dev/null',
      '--no-hosts',
      '--no-resolv',
      '--bind-interfaces',
      '--listen-address=127.0.0.1',
      `--port=${port}`,
      `--server=/slow.test/127.0.0.1#${silent.address().port}`,
      ...ZONE,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (/started, version/.test(said)) resolve();
    });
    child.once('error', reject);
    void ended.then(() => reject(new Error(`dnsmasq did not start: ${said}`)));
  });
  return {
    address: `127.0.0.1:${port}`,
    stop: async () => {
      child.kill();
      await ended;
      await closed(silent);
    },
  };
}
