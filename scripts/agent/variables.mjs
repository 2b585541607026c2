/**
 * Takes from Node's own binaries the names of the variables that it and OpenSSL read before a program's first line runs
 * (contract 90, whom it believes): a planted NODE_COMPILE_CACHE would be run, OPENSSL_CONF loads libraries,
 * NODE_V8_COVERAGE writes files. No variable has an empty name, so the first byte of each name becomes the end of it.
 * Rejected: starting anew with a clean environment (too late, they were read), a snapshot (it holds for one platform).
 */

/** Each has to be there: a Node that reads its variables otherwise must not go unnoticed. */
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
      // A string of the JavaScript inside the snapshot follows its length; its bytes belong to a hash.
      if (deaf.readUInt32LE(at - 4) === name.length) continue;
      // The end of a longer name. That of a sentence is one: linkers keep equal ends once.
      if (/\w/.test(String.fromCharCode(deaf[at - 1]))) continue;
      deaf[at] = 0;
      found++;
    }
    if (found === 0 && WANTED.includes(name)) throw new Error(`this Node does not read ${name} where it was expected`);
  }
  return deaf;
}
