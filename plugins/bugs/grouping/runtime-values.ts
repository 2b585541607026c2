/** Numbers in such messages are never codes (contract 21, amendments). */
type MaskRule = readonly [pattern: RegExp, instead: string];

interface RuleGroup {
  signs: readonly string[];
  needsDigit?: boolean;
  rules: readonly MaskRule[];
}

const NUMBER = String.raw`-?\d{1,20}`;
const compilePattern = (source: string, flags = 'gi'): RegExp => new RegExp(source.replaceAll('{N}', NUMBER), flags);

/** Every bare number in such a line is a value. */
const OUT_OF_RANGE =
  /out[- ]?of[- _]?(?:the )?(?:array )?(?:bounds|range)|OutOfBounds|outside (?:of )?(?:the )?(?:array |valid )?(?:bounds|range)|beyond (?:the )?(?:bounds|end)|range_check|should be <=? len|not in (?:inclusive )?range|is not a valid index|slice index starts|larger than the node's length|exceeds? (?:the )?(?:length|size|bounds)|maximum bound|index or size|char boundary|__n \(which is|__pos \(which is/i;
/** A number after it is an identifier, not an index. */
const NAMING_WORD = String.raw`(?<![a-z])(?:code|status|errno|error|http|sql|ora|argument|parameter|version|port|line)s?[ :=#([/-]{1,3}`;
const BARE_NUMBER = new RegExp(
  String.raw`(?<![\p{L}\p{N}_.])(?<!${NAMING_WORD})-?(?<![\p{L}\p{N}]-)\d{1,20}(?:\.\d{1,20})?(?![\p{L}\p{N}_])`,
  'giu',
);
/** Go `[:12]`, Kotlin and Dart `0..2`, Ruby `-3...3`. */
const RANGE = /(?<![\p{L}\p{N}_.])-?\d{1,20}\.{2,3}<?-?\d{1,20}/gu;

const OUT_OF_RANGE_HINTS = [
  'bound',
  'range',
  'beyond',
  'should be',
  'valid index',
  'slice index',
  'exceed',
  'larger than',
  'index or size',
  'which is',
];

const includesAny = (lower: string, signs: readonly string[]): boolean => signs.some((sign) => lower.includes(sign));

function maskOutOfRange(text: string): string {
  return text
    .split('\n')
    .map((line) => (OUT_OF_RANGE.test(line) ? line.replace(RANGE, '<number>').replace(BARE_NUMBER, '<number>') : line))
    .join('\n');
}

const RULE_GROUPS: readonly RuleGroup[] = [
  {
    needsDigit: true,
    // prettier-ignore
    signs: [
      'index', 'idx', 'offset', 'position', 'size', 'len', 'count', 'begin', 'end', 'start', 'capacity', 'valid_up_to', 'key',
      'row', 'character', 'code point', 'byte', 'value', '(is ', '(was ', '(which', '(char', '(at ', 'received', 'left:', 'right:',
      'shape', ' > ', 'in list', 'number', 'supplied', 'at char', 'column',
    ],
    rules: [
      [
        compilePattern(
          String.raw`\b((?:bit|from|to|begin|end|start)?(?:index|idx|offset|position|size|length|len|count|begin|end|start|capacity|valid_up_to)(?:: |=| = |\(| \())({N})(?=[,;) .]|$)`,
        ),
        '$1<number>',
      ],
      [
        compilePattern(
          String.raw`\b(begin|end|length|offset|count|index|size) ({N})(?=, (?:begin|end|length|offset|count|index|size) |$)`,
        ),
        '$1 <number>',
      ],
      [
        compilePattern(
          String.raw`\b(undefined (?:array key|offset):?|uninitialized string offset:?|illegal string offset|(?:at|in|(?<=, )(?=position)) ?(?:position|offset|index|character|char|byte|row|column)|row(?= \d{1,12}[^\d])|character|around character|code point|(?:byte|input) (?:position|byte)|with (?:length|capacity|size)|of length|(?:value|count|index|bitindex) (?:< 0|is negative|value):) ({N})(?![\w:.]*\d)`,
        ),
        '$1 <number>',
      ],
      [
        compilePattern(String.raw`\((which is|is|was|char|at character|at char|at byte|at position|at offset) ({N})\)`),
        '($1 <number>)',
      ],
      [
        compilePattern(
          String.raw`\b(actual value was|received type (?:number|bigint)|only valid value is [\d.]{1,20}:|(?:value|range) is empty:) \(?({N})\)?(?=[.,;:)]|$)`,
        ),
        '$1 <number>',
      ],
      [compilePattern(String.raw`^( {0,8}(?:left|right): )({N})$`, 'gim'), '$1<number>'],
      [compilePattern(String.raw`(?<=\bshapes? )\([\d, ]{1,60}\)(?: (?:and )?\([\d, ]{1,60}\)){0,4}`), '<number>'],
      [compilePattern(String.raw`\(?\b({N}) > ({N})\b\)?(?=$|\n)`), '<number> > <number>'],
      [
        compilePattern(
          String.raw`^({N}(?:\.\d{1,9})?)(?= is not in list$)|(?<=\bthe number )-?\d[\d.]{0,30}(?= cannot be converted)|(?<=there are )\d{1,6}(?= supplied)`,
          'gim',
        ),
        '<number>',
      ],
    ],
  },
  {
    // What they encountered is a value, whether a character or a word.
    signs: ['json', 'charact', 'looking for', 'unexpected', 'unrecogni', 'byteposition', '[source: ', 'path ', '$'],
    rules: [
      [
        /\b(unexpected (?:non-whitespace |JSON )?(?:token|character|identifier|string|number)|unrecogni[sz]ed token) (?:'[^'\n]{1,60}'|"[^"\n]{1,60}"|`[^`\n]{1,60}`|(?!after |at )\S{1,40}?)(?=,? in JSON|,? [^\n]{0,600}(?:is not valid JSON|JSON (?:String|input|data))|: (?:was expecting|expected))/gi,
        '$1 <value>',
      ],
      [
        /(?<=JSON Parse error: (?:Unexpected|Unrecognized) (?:identifier|token|string|number) )(?:'[^'\n]{1,60}'|"[^"\n]{1,300}"|\S{1,60})/gi,
        '<value>',
      ],
      [/(?<=<value>), (?:\.{3} ?)?"[^\n]{0,600}?(?= is not valid JSON)/g, ', <value>'],
      [/(?<=unexpected character )\('[^\n]{1,12}' \(code \d{1,7}[^()\n]{0,60}\)\)/gi, '<value>'],
      [/(?<=\binvalid character )'[^\n]{1,12}?'(?= (?:looking for|after|in))/gi, '<value>'],
      [/(?<=\bencountered while parsing value: )\S{1,20}?(?=\. Path)/gi, '<value>'],
      [/(?<=\[Source: )[^\n]{0,600}?(?=; line:|$)/gm, '<value>'],
      [/'[^'\n]{1,8}'(?= is an invalid (?:start|end) of)/g, '<value>'],
      [/(?<=\$[\w.[\]<>-]{0,120})\[\d{1,9}\]/g, '[<number>]'],
    ],
  },
  {
    needsDigit: true,
    signs: ['line', 'column', 'char', 'position'],
    rules: [
      [
        compilePattern(
          String.raw`\b((?:line|column|char|character|lineNumber|columnNumber|BytePositionInLine)(?::| =|=)? ?)({N})(?![\w])`,
        ),
        '$1<line>',
      ],
    ],
  },
  {
    signs: [
      'incorrect',
      'liter',
      'convert',
      'input',
      'invalid',
      'pars',
      'time data',
      'exception: ',
      'token at',
      'received type',
    ],
    rules: [
      [/\b(received type [a-z]{1,20}) \('[^\n]{0,300}?'\)/gi, '$1 <value>'],
      [
        /(?<=\binvalid literal for (?:int|float)\(\) with base \d{1,2}: |could not convert string to (?:float|complex): |For input string: |invalid value for (?:Integer|Float|Rational)\(\): |\bparsing (?:time )?|invalid input syntax for type [\w ]{1,40}: |cannot parse |invalid type: string |invalid (?:duration|isoformat string:|date format:) |\btime data )(?:"[^"\n]{0,300}"|'[^'\n]{0,300}')/gi,
        '<value>',
      ],
      [/(?<=\binput string )'[^'\n]{0,300}'(?= was not in)/gi, '<value>'],
      [/(?<=\bInvalid UUID string: ).{1,60}$|(?<=\bCannot convert )\S{1,60}(?= to a BigInt)/gim, '<value>'],
      [/(?<=\b(?:incorrect|truncated incorrect) [a-z]{3,12} value: )'[^\n]{0,300}?'(?= for column|$)/gim, '<value>'],
      [/(?<=unexpected token at )'[^\n]{0,300}'?$/gim, '<value>'],
    ],
  },
  {
    // The values have the form of Rust source.
    signs: ['byte index', 'is not a char'],
    rules: [[/(?<=\b(?:of|it is inside) )(?:`[^\n]{0,300}`|'[^'\n]{1,12}'(?: \(bytes [^()\n]{1,30}\))?)/g, '<value>']],
  },
  {
    needsDigit: true,
    signs: ['chunk'],
    rules: [[/\b(loading (?:css )?chunk) \d{1,9}(?= |\.|,|$)/gi, '$1 <number>']],
  },
  {
    signs: [' (', 'transaction', 'process', 'prozess', 'truncated value'],
    rules: [
      [/\b(Truncated value: )'[^\n]{0,2000}?'(?=\.?$|\.?\n)/gm, "$1'<value>'"],
      [
        /\b(Failing row contains|Fehlgeschlagene Zeile enthält|La ligne en échec contient|La fila que falla contiene) \([^\n]{0,2000}/g,
        '$1 (<value>)',
      ],
      [/\b(transaction|Prozess|process) \d{1,20}(?= ?[;,.]|$| waits| wartet)/gi, '$1 <number>'],
    ],
  },
  {
    needsDigit: true,
    signs: ["couldn't find", 'partition', 'moved ', 'ask ', 'thread '],
    rules: [
      [/(?<=^|\n|: )(Couldn't find [\w:]{1,100} (?:with|without) '?\w{1,60}'?=)"?[^\s"]{1,100}"?/g, '$1<value>'],
      [
        /(Couldn't find all [\w:]{1,100} with '?\w{1,60}'?: )\([^()\n]{0,1000}\)(?: \(found [^()\n]{1,100}\))?/g,
        '$1(<value>)',
      ],
      [/(?<=\bpartitions? [\w.[\]-]{1,100}-)\d{1,9}(?!\w)/gi, '<number>'],
      [/(?<=^|\n|: )(MOVED|ASK) \d{1,5}(?= )/g, '$1 <number>'],
      [/(?<=\bthread '[^'\n]{1,100}' )\(\d{1,20}\)/g, '(<number>)'],
    ],
  },
  {
    signs: ['request', 'host id', 'hostid', 'trace', 'correlation'],
    rules: [
      [
        /\b((?:extended )?request[ _-]?id|host ?id|trace[ _-]?id|correlation[ _-]?id)(\s?[:=]\s?|\s)(?=\S{0,200}?\d)"?[\w+/=.:-]{6,200}"?/gi,
        '$1$2<id>',
      ],
    ],
  },
  {
    needsDigit: true,
    signs: ['a', 'b', 'c', 'd', 'e', 'f'],
    rules: [[/(?<![\w./@-])(?=[a-f]{0,11}\d)(?=\d{0,11}[a-f])[0-9a-f]{12}(?![\w-])/g, '<id>']],
  },
];

const DIGIT = /\d/;

export function maskRuntimeValues(text: string): string {
  const lower = text.toLowerCase();
  const hasDigit = DIGIT.test(text);
  let masked = hasDigit && includesAny(lower, OUT_OF_RANGE_HINTS) ? maskOutOfRange(text) : text;
  for (const { signs, needsDigit = false, rules } of RULE_GROUPS) {
    if ((needsDigit && !hasDigit) || !includesAny(lower, signs)) continue;
    for (const [pattern, instead] of rules) masked = masked.replace(pattern, instead);
  }
  return masked;
}
