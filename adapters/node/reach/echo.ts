/** Raw sockets need privileges that a service should not have. */
import { execFile, type ExecFileException } from 'node:child_process';
import { OutboundError } from '../../../ports/outbound.js';

const IS_WINDOWS = process.platform === 'win32';
const IS_MACOS = process.platform === 'darwin';
const ROUND_TRIP_PATTERN = /[=<]\s?(\d{1,6}(?:\.\d{1,6})?)\s?ms/;

function buildPingArguments(address: string, timeoutMs: number): string[] {
  if (IS_WINDOWS) return ['-n', '1', '-w', String(timeoutMs), address];
  const seconds = String(Math.max(1, Math.ceil(timeoutMs / 1000)));
  return [...(IS_MACOS ? ['-t', seconds] : ['-W', seconds]), '-n', '-c', '1', address];
}

/** Output of `ping` when the system does not permit it to send. */
const FORBIDDEN_PATTERN = /not permitted|permission denied|lacking privilege|are you root/i;
const UNREACHABLE_PATTERN = /unreachable|no route|cannot assign/i;

/**
 * Exit codes say little.
 * @param stderrText stderr; passed on in languages other than English
 */
function toOutboundError({ code, killed }: ExecFileException, stderrText: string, timeoutMs: number): OutboundError {
  if (code === 'ENOENT') return new OutboundError('unsupported', 'this system has no ping command');
  if (code === 'EACCES' || FORBIDDEN_PATTERN.test(stderrText)) {
    return new OutboundError('unsupported', 'this system does not allow the service to send a ping');
  }
  if (UNREACHABLE_PATTERN.test(stderrText)) return new OutboundError('connect', 'this system has no route to the host');
  if (killed === true || code === 1) return new OutboundError('timeout', `no response within ${timeoutMs} ms`);
  return new OutboundError('connect', `ping failed: ${stderrText.trim().slice(0, 100) || String(code)}`);
}

/**
 * @returns round-trip time in whole milliseconds; null when `ping` does not report it
 * @throws OutboundError
 */
export function sendEcho(address: string, timeoutMs: number, limitMs = timeoutMs): Promise<number | null> {
  const options = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: 16_384, windowsHide: true } as const;
  return new Promise((resolve, reject) => {
    execFile('ping', buildPingArguments(address, timeoutMs), options, (error, stdout, stderr) => {
      if (error !== null) {
        reject(toOutboundError(error, stderr, limitMs));
        return;
      }
      const ms = ROUND_TRIP_PATTERN.exec(stdout)?.[1];
      resolve(ms === undefined ? null : Math.round(Number(ms)));
    });
  });
}
