import type { BasicCredentials, BasicGuard, Principal } from '../../../ports/http.js';
import { Failure } from '../wire/failure.js';
import type { IncomingRequest } from '../wire/incoming-request.js';

/** Limited to 3 KiB of Base64, longer than any password that an account may have. */
const BASIC = /^basic +([A-Za-z0-9+/]{2,4096}={0,2}) *$/i;
const CONTROL = /\p{Cc}/u;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function basicOf(authorization: string | undefined): BasicCredentials | null {
  const encoded = BASIC.exec(authorization ?? '')?.[1];
  if (encoded === undefined || encoded.length % 4 !== 0) return null;
  const text = decoded(Buffer.from(encoded, 'base64'));
  const colon = text?.indexOf(':') ?? -1;
  if (text === null || colon === -1 || CONTROL.test(text)) return null;
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

function decoded(bytes: Buffer): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}

const challengeOf = (realm: string): string =>
  `Basic realm="${realm.replaceAll(/[^\x20-\x7e]/g, '?').replaceAll(/["\\]/g, '\\$&')}", charset="UTF-8"`;

export async function judgeBasic(
  guard: BasicGuard,
  call: IncomingRequest,
  authorization: string | undefined,
  pressed = false,
): Promise<Principal | Failure> {
  const given = basicOf(authorization);
  const verdict = await guard.judge(given, call, pressed);
  if (verdict.open) return { kind: 'basic', username: verdict.username };
  const { code, message, retry_after } = verdict;
  const headers = {
    ...(code === 'unauthorized' && { 'www-authenticate': challengeOf(guard.realm) }),
    ...(retry_after !== undefined && { 'retry-after': String(Math.max(1, Math.ceil(retry_after))) }),
  };
  // A browser's first request carries no credential, so its 401 is not logged as a denial.
  const asks = code === 'unauthorized' && authorization === undefined;
  return asks ? new Challenge(code, message, { headers }) : new Failure(code, message, { headers });
}

export class Challenge extends Failure {}
