import { toEmailKey, type Account, type ExternalIdentity } from '../model/account.js';
import { computeSha256 } from '../model/token.js';

/** Null when unknown. */
export interface AccountProfile {
  full_name?: string | null;
  email?: string | null;
  /** Whether someone else than the account itself vouches for the address. */
  email_verified?: boolean;
}

const MAX_NAME_LENGTH = 100;
const MAX_EMAIL_LENGTH = 254;
/** Whether mail can be sent there is for the mail server to say. */
const EMAIL_PATTERN = /^[^\s@<>"(),:;\\[\]\p{C}]{1,64}@[^\s@<>"(),:;\\[\]\p{C}]{1,189}$/u;

export const isEmail = (text: string): boolean => text.length <= MAX_EMAIL_LENGTH && EMAIL_PATTERN.test(text);

/**
 * Returns the fields to store.
 * @param fields receives what is wrong
 */
export function checkProfile(given: AccountProfile, fields: Record<string, string>): Partial<Account> {
  const full_name = given.full_name?.normalize('NFC').trim() || null;
  const email = given.email?.normalize('NFC').trim() || null;
  if (full_name !== null && (Array.from(full_name).length > MAX_NAME_LENGTH || /\p{C}/u.test(full_name)))
    fields['full_name'] = `must have at most ${MAX_NAME_LENGTH} visible characters`;
  if (email !== null && !isEmail(email)) fields['email'] = 'must be an e-mail address, for example ada@example.com';
  const email_key = email === null ? null : toEmailKey(email);
  return { full_name, email, email_key, email_verified: email !== null && given.email_verified === true };
}

export const toIdentityKey = ({ issuer, subject }: ExternalIdentity): string =>
  computeSha256(JSON.stringify([issuer, subject]));
