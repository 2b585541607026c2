/**
 * TestCertificates of an authority of the test's own, made by openssl: node cannot make any by
 * itself.
 */
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface KeyAndCertificate {
  key: string;
  cert: string;
}

export interface TestCertificates {
  /** The authority, PEM. */
  ca: string;
  /** For `localhost` and 127.0.0.1, with five days left. */
  soon: KeyAndCertificate;
  /** The same names, over since yesterday. */
  expired: KeyAndCertificate;
  /** For `shop.test`, with a year left. */
  other: KeyAndCertificate;
  /** For `localhost`, of nobody's authority. */
  selfSigned: KeyAndCertificate;
}

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
const HERE = 'subjectAltName=DNS:localhost,IP:127.0.0.1';

/** Null when this machine has no openssl, or one that makes no such certificates. */
export async function certificates(): Promise<TestCertificates | null> {
  const folder = await mkdtemp(join(tmpdir(), 'aos-certificates-'));
  const openssl = (...words: string[]): void => void execFileSync('openssl', words, { cwd: folder, stdio: 'ignore' });
  const shown = async (name: string): Promise<KeyAndCertificate> => ({
    key: await readFile(join(folder, `${name}.key`), 'utf8'),
    cert: await readFile(join(folder, `${name}.pem`), 'utf8'),
  });
  const own = (name: string, subject: string, ...more: string[]): void =>
    openssl(
      'req',
      '-x509',
      ...KEY,
      '-days',
      '365',
      '-subj',
      subject,
      ...more,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.pem`,
    );
  const signed = async (name: string, days: string, names: string): Promise<KeyAndCertificate> => {
    openssl(
      'req',
      '-new',
      ...KEY,
      '-subj',
      `/CN=${name}`,
      '-addext',
      names,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.csr`,
    );
    const by = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-copy_extensions', 'copy'];
    openssl('x509', '-req', '-in', `${name}.csr`, ...by, '-days', days, '-out', `${name}.pem`);
    return shown(name);
  };
  try {
    own('ca', '/CN=Probes of the tests');
    own('self', '/CN=localhost', '-addext', HERE);
    return {
      ca: (await shown('ca')).cert,
      soon: await signed('soon', '5', HERE),
      expired: await signed('expired', '-1', HERE),
      other: await signed('other', '365', 'subjectAltName=DNS:shop.test'),
      selfSigned: await shown('self'),
    };
  } catch {
    return null;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
