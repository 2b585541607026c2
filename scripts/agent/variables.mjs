/**
 * Disables environment variables that Node and OpenSSL read before a program's first line runs
 * (contract 90, whom it believes). A planted NODE_COMPILE_CACHE would be executed, OPENSSL_CONF
 * loads libraries, NODE_V8_COVERAGE writes files. The first byte of each name is replaced by NUL,
 * because no variable has an empty name.
 */

/** Each must exist in the binary, so that a changed Node does not go unnoticed. */
const WANTED = ['NODE_COMPILE_CACHE', 'NODE_EXTRA_CA_CERTS', 'NODE_ICU_DATA', 'NODE_OPTIONS', 'NODE_V8_COVERAGE'];
const NAMES = [
  ...WANTED,
  'NODE_COMPILE_CACHE_PORTABLE',
  'NODE_DEBUG_NATIVE',
  'NODE_DISABLE_COMPILE_CACHE',
  'NODE_NO_WARNINGS',
  'NODE_PENDING_DEPRECATION',
  'NODE_PRESERVE_SYMLINKS',
  'NODE_PRESERVE_SYMLINKS_MAIN',
  'NODE_REDIRECT_WARNINGS',
  'NODE_REPL_EXTERNAL_MODULE',
  'NODE_USE_ENV_PROXY',
  'NODE_USE_SYSTEM_CA',
  'OPENSSL_CONF',
  'OPENSSL_CONF_INCLUDE',
  'OPENSSL_ENGINES',
  'OPENSSL_MODULES',
];

/**
 * @param {Buffer} file
 * @returns {Buffer} a copy
 */
export function withoutVariables(file) {
  const deaf = Buffer.from(file);
  for (const name of NAMES) {
    const text = Buffer.from(`${name}\0`, 'latin1');
    let found = 0;
    for (let at = deaf.indexOf(text); at !== -1; at = deaf.indexOf(text, at + 1)) {
      // Strings of JavaScript in the snapshot follow their length; their bytes are hashed.
      if (deaf.readUInt32LE(at - 4) === name.length) continue;
      // The end of a longer name. After a sentence it may be a name, because linkers merge equal
      // ends.
      if (/\w/.test(String.fromCharCode(deaf[at - 1]))) continue;
      deaf[at] = 0;
      found++;
    }
    if (found === 0 && WANTED.includes(name)) throw new Error(`this Node does not read ${name} where it was expected`);
  }
  return deaf;
}
