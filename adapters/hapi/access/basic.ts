/** `Authorization: Basic …`, read strictly (RFC 7617), and judged by the route's guard. */
import type { BasicCredentials, BasicGuard, Principal } from '../../../ports/http.js';
import { Failure } from '../wire/failure.js';
import type { IncomingRequest } from '../wire/incoming-request.js';

/** The header. Base64 of at most 3 KiB: longer than any password that an account may have. */
const BASIC = /^basic +([A-Za-z0-9+/]{2,4096}={0,2}) *$/i;
const CONTROL = /\p{Cc}/u;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** User name and password; null for anything that is not exactly one Basic credential in UTF-8. */
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
    // The bytes are no UTF-8, which our challenge asks for.
    return null;
  }
}

/** The realm as a quoted string. */
const challengeOf = (realm: string): string =>
  `Basic realm="${realm.replaceAll(/[^\x20-\x7e]/g, '?').replaceAll(/["\\]/g, '\\$&')}", charset="UTF-8"`;

/** Answers who asks, or the guard's refusal; a 401 carries the challenge. */
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
  // A browser's first question comes without a credential, so its 401 is no refusal to log.
  const asks = code === 'unauthorized' && authorization === undefined;
  return asks ? new Challenge(code, message, { headers }) : new Failure(code, message, { headers });
}

/** 401 to a caller that has not tried a credential yet. */
export class Challenge extends Failure {}
