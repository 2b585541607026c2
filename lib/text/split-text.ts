/** Splits text into chunks without separating surrogate pairs. */
export function* splitText(text: string, units: number): Generator<string> {
  for (let at = 0; at < text.length;) {
    const end = isHighSurrogate(text.charCodeAt(at + units - 1)) ? at + units + 1 : at + units;
    yield text.slice(at, end);
    at = end;
  }
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;
