/**
 * ICMP echoes, by the system's own `ping`: sockets for them need rights that a service should not have, and `ping` has
 * them where the system lets it. The address was judged and holds no letters that a command line could misread.
 */
import { execFile } from 'node:child_process';
import { OutboundError } from '../../../ports/outbound.js';

const WINDOWS = process.platform === 'win32';
const MAC = process.platform === 'darwin';
const TIME = /[=<]\s?(\d{1,6}(?:\.\d{1,6})?)\s?ms/;

function argumentsOf(address: string, timeoutMs: number): string[] {
  if (WINDOWS) return ['-n', '1', '-w', String(timeoutMs), address];
  const seconds = String(Math.max(1, Math.ceil(timeoutMs / 1000)));
  return [...(MAC ? ['-t', seconds] : ['-W', seconds]), '-n', '-c', '1', address];
}

/**
 * @returns how long it took, in whole milliseconds; null where `ping` does not say
 * @throws OutboundError
 */
export function echo(address: string, timeoutMs: number): Promise<number | null> {
  const options = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: 16_384, windowsHide: true } as const;
  return new Promise((resolve, reject) => {
    execFile('ping', argumentsOf(address, timeoutMs), options, (error, stdout) => {
      if (error === null) {
        const ms = TIME.exec(stdout)?.[1];
        resolve(ms === undefined ? null : Math.round(Number(ms)));
        return;
      }
      const { code, killed } = error as { code?: string | number | null; killed?: boolean };
      if (code === 'ENOENT') reject(new OutboundError('connect', 'this system has no ping'));
      else if (killed === true || code === 1) reject(new OutboundError('timeout', `no answer within ${timeoutMs} ms`));
      else reject(new OutboundError('connect', 'this system does not let the service send an echo'));
    });
  });
}
