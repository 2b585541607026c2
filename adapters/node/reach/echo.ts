/**
 * ICMP echoes, by the system's own `ping`: sockets for them need rights that a service should not have, and `ping` has
 * them where the system lets it. The address was judged and holds no letters that a command line could misread.
 */
import { execFile, type ExecFileException } from 'node:child_process';
import { OutboundError } from '../../../ports/outbound.js';

const WINDOWS = process.platform === 'win32';
const MAC = process.platform === 'darwin';
const TIME = /[=<]\s?(\d{1,6}(?:\.\d{1,6})?)\s?ms/;

function argumentsOf(address: string, timeoutMs: number): string[] {
  if (WINDOWS) return ['-n', '1', '-w', String(timeoutMs), address];
  const seconds = String(Math.max(1, Math.ceil(timeoutMs / 1000)));
  return [...(MAC ? ['-t', seconds] : ['-W', seconds]), '-n', '-c', '1', address];
}

/** Said by `ping` where the system keeps it from sending. */
const FORBIDDEN = /not permitted|permission denied|lacking privilege|are you root/i;
const UNREACHABLE = /unreachable|no route|cannot assign/i;

/**
 * What an end without an answer means. Codes of the end tell little: some programs use 1 for everything.
 * @param said on stderr; in another language than English it is passed on as it is
 */
function faultOf({ code, killed }: ExecFileException, said: string, timeoutMs: number): OutboundError {
  if (code === 'ENOENT') return new OutboundError('unsupported', 'this system has no ping');
  if (code === 'EACCES' || FORBIDDEN.test(said)) {
    return new OutboundError('unsupported', 'this system does not let the service send an echo');
  }
  if (UNREACHABLE.test(said)) return new OutboundError('connect', 'this system has no route to it');
  if (killed === true || code === 1) return new OutboundError('timeout', `no answer within ${timeoutMs} ms`);
  return new OutboundError('connect', `the ping of this system failed: ${said.trim().slice(0, 100) || String(code)}`);
}

/**
 * @param limitMs the time limit that the message of a timeout names
 * @returns how long it took, in whole milliseconds; null where `ping` does not say
 * @throws OutboundError
 */
export function echo(address: string, timeoutMs: number, limitMs = timeoutMs): Promise<number | null> {
  const options = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: 16_384, windowsHide: true } as const;
  return new Promise((resolve, reject) => {
    execFile('ping', argumentsOf(address, timeoutMs), options, (error, stdout, stderr) => {
      if (error !== null) {
        reject(faultOf(error, stderr, limitMs));
        return;
      }
      const ms = TIME.exec(stdout)?.[1];
      resolve(ms === undefined ? null : Math.round(Number(ms)));
    });
  });
}
