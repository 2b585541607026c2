/** JSON that was made elsewhere, as a member of an answer. */
const decoder = new TextDecoder();

export class JsonText {
  /** @param json one value, as text or as UTF-8 */
  constructor(readonly json: string | Uint8Array) {}

  /** The value: whoever does not splice it gets the same. */
  toJSON(): unknown {
    return JSON.parse(typeof this.json === 'string' ? this.json : decoder.decode(this.json));
  }
}
