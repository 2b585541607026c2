import { createGlobMatcher } from '../../lib/formats/globs.js';
import { beginningOf, type PublishFile } from './publish-files.js';

const NAMES = createGlobMatcher(
  [
    '.env',
    '.env.*',
    '*.env',
    '*.pfx',
    '*.p12',
    '*.key',
    '*.ppk',
    '*.jks',
    '*.keystore',
    '*.kdbx',
    'id_rsa*',
    'id_ed25519*',
    'id_ecdsa*',
    '.npmrc',
    '.netrc',
    '_netrc',
    '.pgpass',
    '.git-credentials',
    '.htpasswd',
    'credentials',
    'credentials.json',
    'secrets.json',
    'secrets.y*ml',
    'service-account*.json',
  ].flatMap((name) => [name, `**/${name}`]),
);
const TEMPLATES = /(^|[./_-])(example|sample|template|dist)([./_-]|$)/;

/**
 * Version control directories contain everything ever committed, and often a URL with a password.
 */
const HISTORY = /^(?:.*\/)?(?:\.(?:git|hg|svn|bzr|jj)|_darcs|CVS)(?=\/)/i;

const LOOKED_AT_BYTES = 256 * 1024;
const CONTENTS: readonly [what: string, pattern: RegExp][] = [
  ['a private key', /-----BEGIN (?:[A-Z]{2,12} ){0,3}PRIVATE KEY-----\s/],
  ['a token of this service', /\b(?:svc_live_|svc_sub_|wd_live_|svc_setup_)[0-9A-Za-z]{43}/],
  ['an access key of AWS', /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/],
  ['a token of GitHub', /\b(?:gh[pousr]_[0-9A-Za-z]{36}|github_pat_\w{60})/],
  ['a token of GitLab', /\bglpat-[\w-]{20}/],
  ['a token of npm', /\b(?:npm_[0-9A-Za-z]{36}|_authToken\s?=\s?[\w-]{20})/],
  ['a token of Slack', /\bxox[abposr]-[0-9A-Za-z-]{20}/],
  ['a key of Stripe', /\b[rs]k_live_[0-9A-Za-z]{20}/],
  ['a key of Google', /\bAIza[\w-]{35}/],
  ['a password in an address', /\b[a-z][a-z0-9+]{1,20}:\/\/[^\s:/@"'<>]{1,60}:[^\s:/@"'<>${}]{3,60}@/i],
];
/**
 * A connection string or setting (`MYSQL_ROOT_PASSWORD: x`) with a value that is not a placeholder.
 */
const PASSWORD = /(?:password|passwd|pwd|secret|api_?key)["']?[ \t]{0,8}[:=][ \t]{0,8}["']?([^\s"';,<>${}%]{6,100})/gi;
const PLACEHOLDER =
  /^(changeme|change-me|todo|your[-_].*|x{3,}|\*{3,}|example.*|placeholder|null|none|false|true|undefined|string|password|secret|process\.env.*)$/i;
/** Source code mentions passwords without containing one. */
const SETTINGS = /\.(json|ya?ml|config|ini|env|toml|properties|xml|conf|cfg)$|(^|\/)\.env/;

/** Returns one sentence per suspicious file: its path and what was found, never the value. */
export async function credentialWarnings(
  files: readonly PublishFile[],
  preserved: (path: string) => boolean,
): Promise<string[]> {
  const warnings: string[] = [];
  const histories = new Set<string>();
  for (const { path, file, size } of files) {
    const history = HISTORY.exec(path)?.[0];
    if (history !== undefined && !histories.has(history)) {
      histories.add(history);
      warnings.push(
        `${history}/ holds everything that was ever committed. Exclude it (excludePatterns: ${history}/**).`,
      );
    }
    if (history !== undefined || preserved(path)) continue;
    const seen = named(path)
      ? 'is named like a file with credentials'
      : held(path, await beginningOf(file, Math.min(size, LOOKED_AT_BYTES)));
    if (seen !== null)
      warnings.push(`${path} ${seen}. Exclude it (excludePatterns) or preserve it (preservePatterns).`);
  }
  return warnings;
}

const named = (path: string): boolean => NAMES(path.toLowerCase()) && !TEMPLATES.test(path.toLowerCase());

function held(path: string, bytes: Buffer): string | null {
  // Binaries may contain key prefixes in order to recognize keys.
  if (bytes.includes(0)) return null;
  const text = bytes.toString('latin1');
  for (const [what, pattern] of CONTENTS) if (pattern.test(text)) return `seems to hold ${what}`;
  if (!SETTINGS.test(path.toLowerCase()) || TEMPLATES.test(path.toLowerCase())) return null;
  for (const [, value = ''] of text.matchAll(PASSWORD)) if (!PLACEHOLDER.test(value)) return 'seems to hold a password';
  return null;
}
