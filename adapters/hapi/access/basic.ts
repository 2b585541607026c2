import type { BasicCredentials, BasicGuard, Principal } from '../../../ports/http/index.js';
import { Failure } from '../wire/failure.js';
import type { IncomingRequest } from '../wire/incoming-request.js';

/** 3 KiB of Base64, longer than any password. */
const BASIC_PATTERN = /^basic +([A-Za-z0-9+/]{2,4096}={0,2}) *$/i;
const CONTROL_PATTERN = /\p{Cc}/u;
const utf8Decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function parseBasicCredentials(authorization: string | undefined): BasicCredentials | null {
  const encoded = BASIC_PATTERN.exec(authorization ?? '')?.[1];
  if (encoded === undefined || encoded.length % 4 !== 0) return null;
  const text = decodeUtf8(Buffer.from(encoded, 'base64'));
  const colon = text?.indexOf(':') ?? -1;
  if (text === null || colon === -1 || CONTROL_PATTERN.test(text)) return null;
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

function decodeUtf8(bytes: Buffer): string | null {
  try {
    return utf8Decoder.decode(bytes);
  } catch {
    return null;
  }
}

const formatChallenge = (realm: string): string =>
  `Basic realm="${realm.replaceAll(/[^\x20-\x7e]/g, '?').replaceAll(/["\\]/g, '\\$&')}", charset="UTF-8"`;

export async function authenticateBasic(
  guard: BasicGuard,
  call: IncomingRequest,
  authorization: string | undefined,
  pressed = false,
): Promise<Principal | Failure> {
  const given = parseBasicCredentials(authorization);
  const verdict = await guard.authorize(given, call, pressed);
  if (verdict.open) return { kind: 'basic', username: verdict.username };
  const { code, message, retry_after, isExpected } = verdict;
  const headers = {
    ...(code === 'unauthorized' && { 'www-authenticate': formatChallenge(guard.realm) }),
    ...(retry_after !== undefined && { 'retry-after': String(Math.max(1, Math.ceil(retry_after))) }),
  };
  // A browser's first request carries no credential.
  const isQuiet = isExpected === true || (code === 'unauthorized' && authorization === undefined);
  return isQuiet ? new ChallengeFailure(code, message, { headers }) : new Failure(code, message, { headers });
}

export class ChallengeFailure extends Failure {}
