/**
 * Length provides the strength; the rest rejects common guesses (contract 10, accounts). Character
 * classes would only yield `Password123!`.
 */
import { toUsernameKey } from './account.js';

export const MIN_PASSWORD_CHARACTERS = 12;
/** bcrypt ignores further bytes. */
export const MAX_PASSWORD_BYTES = 72;

/** Twelve and more characters, normalized. */
const COMMON_PASSWORDS = new Set(
  `passwordpassword qwertyqwerty qwertyuiopasdfghjkl qwertyuiopasdf qwertyuiopas qwertyuiopasd asdfghjklqwertyuiop
  1qaz2wsx3edc 1qaz2wsx3edc4rfv qazwsxedcrfv qazwsxedcrfvtgb zaq12wsxcde3 1q2w3e4r5t6y 1q2w3e4r5t6y7u 1q2w3e4r5t6y7u8i
  q1w2e3r4t5y6 abcdefghijkl abcdefghijklm abcdefghijklmnop adminadminadmin administrator administrador rootrootroot
  iloveyouforever iloveyoubaby iloveyousomuch letmeinletmein welcomewelcome changemechangeme changemenow pleasechangeme
  secretsecret supersecret supersecretpassword mysecretpassword mypassword mypasswordis thisismypassword defaultpassword
  temporarypassword temppassword testpassword testtesttest trustnoonetrustnoone footballfootball baseballbaseball
  basketball dragondragon monkeymonkey sunshinesunshine princessprincess superman superstar manchesterunited liverpoolfc
  unbelievable relationship jehovahwitness fuckyoufuckyou computercomputer masterpassword passwordadmin adminpassword
  rootpassword userpassword guestpassword opensesame opensesameopensesame correcthorse`.split(/\s+/),
);

const COMMON_WORDS = new Set(
  `password passwort passw passwd pass admin administrator root user guest test tester testing qwerty qwertz azerty
  qwertyuiop letmein welcome changeme default secret login master dragon monkey football baseball superman batman
  iloveyou sunshine princess shadow trustno starwars whatever freedom computer internet summer winter spring autumn
  company temp temporary demo system server service hello hallo sommer willkommen geheim abc abcd abcdef qaz zaq asdf
  asdfgh asdfghjkl zxcvbn zxcvbnm 1q2w3e 1q2w3e4r 1q2w3e4r5t q1w2e3 q1w2e3r4 1qaz2wsx qaz2wsx zaq12wsx zaq1zaq1 qazwsx
  qazwsxedc abc123 a1b2c3 trustno1 passw0rd michael jennifer jessica daniel thomas robert matthew jordan andrew charlie
  ashley nicole michelle hunter killer george joshua andrea amanda samantha liverpool chelsea arsenal barcelona soccer
  hockey mustang corvette ferrari mercedes porsche yankees lakers cowboys pokemon naruto minecraft cheese banana orange
  chocolate flower butterfly lovely loveme babygirl angel jesus christ hannah matrix access ninja google facebook samsung
  apple windows linux ubuntu oracle mysql postgres mongodb redis jenkins docker kubernetes changeit raspberry toor`.split(
    /\s+/,
  ),
);

const LOOKALIKES: Record<string, string> = {
  '@': 'a',
  '4': 'a',
  '0': 'o',
  '3': 'e',
  $: 's',
  '5': 's',
  '!': 'i',
  '1': 'i',
  '7': 't',
};

const replaceLookalikes = (text: string): string => text.replace(/[@403$5!17]/g, (c) => LOOKALIKES[c] ?? c);
/** `1qaz2wsx2024!` becomes `1qaz2wsx`. */
const stripSuffix = (text: string): string => text.replace(/[\d\p{P}\p{S}]+$/u, '');
const stripAffixes = (text: string): string => text.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '');

function isRun(text: string): boolean {
  const codes = Array.from(text, (c) => c.codePointAt(0) ?? 0);
  let steps = 0;
  for (let i = 1; i < codes.length; i++) {
    const step = (codes[i] as number) - (codes[i - 1] as number);
    // Continues from 9 to 0 as on the keyboard.
    if (Math.abs(step) <= 1 || step === -9 || step === 9) steps++;
  }
  return steps >= codes.length - 2;
}

function isCommon(password: string): boolean {
  const lower = password.toLowerCase();
  const bare = lower.replace(/[\s._-]/g, '');
  const forms = [
    lower,
    bare,
    replaceLookalikes(lower),
    replaceLookalikes(bare),
    stripAffixes(bare),
    replaceLookalikes(stripAffixes(bare)),
    stripAffixes(replaceLookalikes(stripAffixes(bare))),
  ];
  const known = (form: string): boolean => COMMON_PASSWORDS.has(form) || COMMON_WORDS.has(form);
  if (forms.some(known)) return true;
  const longest = stripSuffix(bare);
  for (let end = bare.length - 1; end >= Math.max(longest.length, 6); end--) if (known(bare.slice(0, end))) return true;
  // `abcabcabcabc`, and repeated common words.
  if (/^(.{1,4})\1+.{0,3}$/su.test(bare)) return true;
  return new Set(bare).size < 5 || isRun(bare);
}

const isRepeated = (text: string, piece: string): boolean =>
  text === piece.repeat(Math.ceil(text.length / piece.length));

export function findPasswordProblem(password: string, username: string): string | null {
  if (Array.from(password).length < MIN_PASSWORD_CHARACTERS)
    return `must have at least ${MIN_PASSWORD_CHARACTERS} characters`;
  if (Buffer.byteLength(password) > MAX_PASSWORD_BYTES) return `must have at most ${MAX_PASSWORD_BYTES} bytes`;
  if (/\p{Cc}|\p{Cs}/u.test(password)) return 'must not contain control characters';
  const key = toUsernameKey(username);
  const lower = toUsernameKey(password);
  if (
    key !== '' &&
    (lower === key || (stripAffixes(key) !== '' && stripAffixes(lower) === stripAffixes(key)) || isRepeated(lower, key))
  ) {
    return 'must not be the account name';
  }
  return isCommon(password) ? 'is too common' : null;
}
