/**
 * Sends ICMP echoes with the system's `ping`, because raw sockets need privileges that a service
 * should not have. The address was checked and cannot be misread as an option.
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

/** Output of `ping` when the system does not permit it to send. */
const FORBIDDEN = /not permitted|permission denied|lacking privilege|are you root/i;
const UNREACHABLE = /unreachable|no route|cannot assign/i;

/**
 * Translates a failed `ping`. Exit codes say little: some implementations use 1 for everything.
 * @param said stderr; passed on unchanged in languages other than English
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
 * @param limitMs the timeout named in the error message
 * @returns round-trip time in whole milliseconds; null when `ping` does not report it
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
