/** JSON that was made elsewhere, as a member of an answer. */

export class JsonText {
  /** @param bytes UTF-8 of one JSON value */
  constructor(readonly bytes: Uint8Array) {}

  /** The value: whoever does not splice the bytes gets the same. */
  toJSON(): unknown {
    return JSON.parse(Buffer.from(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength).toString('utf8'));
  }
}
