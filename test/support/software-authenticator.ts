/** A passkey in software, whose answers a test can falsify. */
import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';

type CborValue = number | string | Buffer | Map<number | string, CborValue>;

const encodeHead = (major: number, length: number): Buffer =>
  length < 24
    ? Buffer.from([(major << 5) | length])
    : length < 256
      ? Buffer.from([(major << 5) | 24, length])
      : Buffer.from([(major << 5) | 25, length >> 8, length & 255]);

function encodeCbor(value: CborValue): Buffer {
  if (typeof value === 'number') return value < 0 ? encodeHead(1, -1 - value) : encodeHead(0, value);
  if (typeof value === 'string') return Buffer.concat([encodeHead(3, value.length), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([encodeHead(2, value.length), value]);
  return Buffer.concat([encodeHead(5, value.size), ...[...value].flat().map(encodeCbor)]);
}

const digest = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();
const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

export interface AuthenticatorFaults {
  origin?: string;
  rpId?: string;
  challenge?: string;
  counter?: number;
  isUserVerified?: boolean;
  type?: string;
}

export class SoftwareAuthenticator {
  readonly id = randomBytes(16);
  counter = 0;
  readonly #key = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  constructor(
    private readonly origin: string,
    private readonly rpId: string,
  ) {}

  /** @returns the browser's answer, JSON */
  create(challenge: string, faults: AuthenticatorFaults = {}): string {
    const { x = '', y = '' } = this.#key.publicKey.export({ format: 'jwk' });
    const key = encodeCbor(
      new Map<number, CborValue>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x, 'base64url')],
        [-3, Buffer.from(y, 'base64url')],
      ]),
    );
    const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, this.id.length]), this.id, key]);
    const authData = Buffer.concat([this.#buildData(faults, HAS_CREDENTIAL), attested]);
    const object = new Map<string, CborValue>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', authData],
    ]);
    return this.#toJson({
      clientDataJSON: this.#buildClientData('webauthn.create', challenge, faults).toString('base64url'),
      attestationObject: encodeCbor(object).toString('base64url'),
      transports: ['internal'],
    });
  }

  /** @param accountId user handle */
  get(challenge: string, accountId: string, faults: AuthenticatorFaults = {}): string {
    this.counter += 1;
    const clientData = this.#buildClientData('webauthn.get', challenge, faults);
    const authData = this.#buildData(faults, 0);
    const signature = createSign('sha256')
      .update(Buffer.concat([authData, digest(clientData)]))
      .sign(this.#key.privateKey);
    return this.#toJson({
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: authData.toString('base64url'),
      signature: signature.toString('base64url'),
      userHandle: Buffer.from(accountId).toString('base64url'),
    });
  }

  #buildClientData(type: string, challenge: string, faults: AuthenticatorFaults): Buffer {
    return Buffer.from(
      JSON.stringify({
        type: faults.type ?? type,
        challenge: faults.challenge ?? challenge,
        origin: faults.origin ?? this.origin,
        crossOrigin: false,
      }),
    );
  }

  #buildData(
    { rpId = this.rpId, counter = this.counter, isUserVerified = true }: AuthenticatorFaults,
    more: number,
  ): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    const flags = USER_PRESENT | (isUserVerified ? USER_VERIFIED : 0) | more;
    return Buffer.concat([digest(rpId), Buffer.from([flags]), count]);
  }

  #toJson(response: object): string {
    const id = this.id.toString('base64url');
    return JSON.stringify({ id, rawId: id, type: 'public-key', response, clientExtensionResults: {} });
  }
}
