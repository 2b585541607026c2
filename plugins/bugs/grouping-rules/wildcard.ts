/** `*` matches any characters; case-insensitive, linear, and the whole text. */
export function compileWildcard(form: string): (text: string) => boolean {
  const [first = '', ...rest] = form.toLowerCase().split('*');
  const last = rest.pop();
  if (last === undefined) return (text) => text.toLowerCase() === first;
  return (text) => {
    const folded = text.toLowerCase();
    if (folded.length < first.length + last.length || !folded.startsWith(first) || !folded.endsWith(last)) return false;
    const end = folded.length - last.length;
    let at = first.length;
    for (const part of rest) {
      const found = folded.indexOf(part, at);
      if (found < 0 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  };
}
