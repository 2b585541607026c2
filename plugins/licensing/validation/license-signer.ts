/**
 * With `security.license_key`; each answer or file contains its key id (contract 50, validate and
 * `.lic`).
 */
import { formatCanonicalJson, type JsonValue } from '../../../lib/formats/canonical-json.js';
import { formatLicenseFile, LICENSE_FILE_SIGNED_PREFIX } from '../../../lib/formats/license-text.js';
import { inject, injectable } from '../../../kernel/contract/index.js';
import { ServiceError } from '../../../kernel/errors.js';
import type { PublicKey, Signer } from '../../../ports/signer.js';
import { DEPS } from '../deps.js';

/** The key may rotate between reading its id and signing, but not twice. */
const MAX_SIGN_ATTEMPTS = 3;

@injectable()
export class LicenseSigningService {
  /** For the next answer: querying the signer costs a read. */
  #last: PublicKey | null = null;

  constructor(@inject(DEPS.signer) private readonly signer: Signer) {}

  async getKey(): Promise<PublicKey> {
    const key = await this.signer.getKey();
    if (key === null) throw new ServiceError('not_ready', 'The signing key of licenses is not available.');
    return key;
  }

  /**
   * Signs all other members, as RFC 8785 JSON.
   * @param answerBy builds them from the key's names; members in alphabetical order are signed as
   *   they are
   */
  async signAnswer<T extends object>(
    answerBy: (key: { alg: string; kid: string }) => T,
  ): Promise<T & { signature: string }> {
    for (let tries = 0; tries < MAX_SIGN_ATTEMPTS; tries++) {
      this.#last ??= await this.getKey();
      const { algorithm: alg, key_id: kid } = this.#last;
      const covered = answerBy({ alg, kid });
      const signed = await this.signer.sign(Buffer.from(formatCanonicalJson(covered as JsonValue)));
      if (signed?.key.key_id === kid) return Object.assign(covered, { signature: signed.signature });
      this.#last = signed?.key ?? null;
    }
    throw new ServiceError('not_ready', 'The signing key of licenses is being replaced.');
  }

  async signFile(payload: object): Promise<string> {
    const enc = Buffer.from(JSON.stringify(payload)).toString('base64');
    const signed = await this.signer.sign(Buffer.from(LICENSE_FILE_SIGNED_PREFIX + enc));
    if (signed === null) throw new ServiceError('not_ready', 'The signing key of licenses is not available.');
    const { signature: sig, key } = signed;
    return formatLicenseFile({ enc, sig, alg: key.algorithm, kid: key.key_id });
  }

  async getPublicKeys(): Promise<object> {
    const { algorithm, key_id: kid, public_key } = await this.getKey();
    const predecessors = (await this.signer.listPredecessors()).map((earlier) => {
      const { key_id, algorithm: alg, public_key: pem, signature } = earlier;
      return { kid: key_id, algorithm: alg, public_key: pem, signature };
    });
    return { algorithm, kid, public_key, predecessors };
  }
}
