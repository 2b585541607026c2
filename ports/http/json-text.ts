const decoder = new TextDecoder();

export class JsonText {
  constructor(readonly json: string | Uint8Array) {}

  /** Parses the value, for serializers that do not splice it. */
  toJSON(): unknown {
    return JSON.parse(typeof this.json === 'string' ? this.json : decoder.decode(this.json));
  }
}
