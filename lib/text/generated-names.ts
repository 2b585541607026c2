/**
 * Masks generated names (contract 21, amendments): lambdas, closures, anonymous classes, state
 * machines, template methods, proxies, whose numbers and hashes vary by process, build or
 * deployment.
 */
type Rule = readonly [pattern: RegExp, instead: string];

const NUMBER_MASK = '<number>';

const NEVER_MATCHING = /(?!)/;

interface Language {
  /** Precondition for any text pattern. */
  sign: RegExp;
  /** Patterns distinctive enough for messages. */
  text: readonly Rule[];
  /** Patterns for a text that is only a name. */
  names: readonly Rule[];
}

const LANGUAGES: Readonly<Record<string, Language>> = {
  jvm: {
    sign: /\$|lambda|proxy\d|Accessor\d|__\d|_closure\d|(?:build|settings|init)_\w{20}|#\d/,
    text: [
      [/-\$\$Lambda\$([\w$]{1,200}?)\$[\w-]{16,40}/g, '$$$$Lambda$$$1'],
      [/\$\$Lambda(?:\$\d{1,9})?(?:\/(?:0x)?[0-9a-f]{1,16})?/gi, '$$$$Lambda'],
      [/\$r8\$lambda\$[\w-]{16,40}/g, '$$r8$$lambda'],
      [/\$\$(ExternalSynthetic[A-Za-z]{1,20}|SyntheticLambda)\d{1,9}/g, '$$$$$1'],
      [/\blambda\$([A-Za-z_]\w{0,200})\$\d{1,9}(?:\$[\w-]{1,200})?/g, 'lambda$$$1'],
      [/(?<=\$)lambda[-$]\d{1,9}|\blambda-\d{1,9}(?=\$)/g, 'lambda'],
      [/\bjdk\.proxy\d{1,9}/g, 'jdk.proxy'],
      [/\$Proxy\d{1,9}/g, '$$Proxy'],
      [/\$\$([A-Za-z]{0,30}CGLIB|(?:FastClass|Enhancer|KeyFactory)By\w{1,40}?)\$\$[0-9a-f]{1,16}/g, '$$$$$1'],
      [/_\$\$_(?:jvst|javassist)\w{0,40}/g, '_$$$$_javassist'],
      [/\$(Hibernate(?:Basic)?Proxy|ByteBuddy|MockitoMock|auxiliary)\$\w{1,40}/g, '$$$1'],
      [/\b(Generated(?:SerializationConstructor|Constructor|Method)Accessor)\d{1,9}/g, '$1'],
      [/\b(LambdaForm\$[A-Za-z]{1,20})\d{0,9}(?:\/(?:0x)?[0-9a-f]{1,16})?/g, '$1'],
      [/\$anonfun\$([A-Za-z_]\w{0,200})\$\d{1,9}(?:\$adapted)?/g, '$$anonfun$$$1'],
      [/\b(fn|eval|reify)__\d{2,9}|\b(eval)\d{2,9}(?=\$)/g, '$1$2'],
      [/_closure\d{1,9}/g, '_closure'],
      // Gradle scripts and Hibernate entity ids.
      [/\b(build|settings|init)_[0-9a-z]{20,30}(?!\w)/g, '$1'],
      [/(?<=\[[\w.$]{1,200})#\d{1,20}(?=\])/g, `#${NUMBER_MASK}`],
      // Anonymous class in a qualified name: `com.acme.Cart$1`. `US$5` is a price.
      [/(?<=\.[\w$]{1,120})\$\d{1,5}(?=[$.\s:;,)@]|$)/g, `$$${NUMBER_MASK}`],
    ],
    names: [
      [/(?<=[\w>])\$\d{1,9}(?=\$|\.|$)/g, `$$${NUMBER_MASK}`],
      [/\b(liftedTree)\d{1,9}/g, '$1'],
      [/\b(script|Script)\d{1,20}(?!\w)/g, '$1'],
      [/__\d{2,9}(?!\w)/g, `__${NUMBER_MASK}`],
    ],
  },
  dotnet: {
    sign: /<[\w>]|VB\$|_Lambda|_Closure|lambda_m|App_Web|Proxy_\d/,
    text: [
      [/<<([\w.]{1,200})>b__\d{1,9}(?:_\d{1,9})?>d/g, '<$1>d'],
      [/<<([\w.]{1,200})>g__(\w{1,200})\|\d{1,9}(?:_\d{1,9})?>d/g, '<$1.$2>d'],
      [/<([\w.]{1,200})>g__(\w{1,200})\|\d{1,9}(?:_\d{1,9})?/g, '$1.$2'],
      [/<([\w.]{1,200})>b__\d{1,9}(?:_\d{1,9})?/g, '$1'],
      [
        /(?<=^|[.+/\s])<([\w.]{1,200})>d(?:__\d{1,9})?(?:`\d{1,2})?(?:\[[^\]]{0,200}\])?(?:[.:]{1,2}MoveNext)?(?![\w>])/g,
        '$1',
      ],
      [/[.+/]?<>c(?:__DisplayClass\d{1,9}(?:_\d{1,9})?)?(?:`\d{1,2})?(?=[.+/:\s]|$)/g, ''],
      [/<>f__AnonymousType\d{1,9}/g, '<>f__AnonymousType'],
      [/\bVB\$StateMachine_\d{1,9}_(\w{1,200})(?:\.MoveNext)?/g, '$1'],
      [/_(Lambda|Closure)\$__\d{1,9}(?:-\d{1,9})?/g, '_$1$$'],
      [/\blambda_method\d{1,9}/g, 'lambda_method'],
      [/\bApp_Web_[\w-]{6,40}/g, 'App_Web'],
      [/(?<=[A-Za-z]Proxy)_\d{1,9}(?!\w)/g, ''],
    ],
    names: [
      [/(?<=\w)@\d{1,7}(?:-\d{1,5}){0,4}(?!\w)/g, ''],
      [/\s?\[0x[0-9a-f]{1,16}\]/gi, ''],
      [/\bIL_[0-9a-f]{4,8}\b/gi, 'IL'],
      [/(?<=\w_)[mt]?[0-9A-F]{32,64}(?![0-9A-Za-z])/g, '<hash>'],
    ],
  },
  php: {
    sign: /@anonymous|\{closure:|__Twig|Composer\w{4,12}Init|Mock_|Ghost|Proxy[0-9a-f]|Container\w|content_/,
    text: [
      [
        /@anonymous[\0\ufffd]?(?:[A-Za-z]:)?[^\n"'`$]{0,400}?(?::\d{1,9}\$[0-9a-f]{1,16}|0x[0-9a-f]{4,16})(?![0-9a-f])/gi,
        '@anonymous',
      ],
      [/\{closure:(?:[A-Za-z]:)?[\\/][^{}\n]{0,300}:\d{1,9}\}/g, '{closure}'],
      [/\{closure:([^{}\n]{1,300}):\d{1,9}\}/g, '{closure:$1}'],
      [/\{closure:\{closure(:[^{}\n]{1,300})?\}:\d{1,9}\}/g, '{closure$1}'],
      [/__TwigTemplate_[0-9a-f]{16,64}(?:___\d{1,9})?/g, '__TwigTemplate'],
      [/\b(Composer(?:Autoloader|Static)Init)[0-9a-f]{16,64}/g, '$1'],
      [/\b(Mock_\w{1,100}?)_[0-9a-f]{8}\b/g, '$1'],
      [/(?<=[A-Za-z])(Ghost|Proxy)(?=[0-9a-f]{0,7}\d)[0-9a-f]{7,8}(?![0-9A-Za-z])/g, '$1'],
      // Smarty and Symfony append a hash to compiled names.
      [/\bcontent_[0-9a-f]{13,24}_\d{4,12}/g, 'content'],
      [/\b(Container)(?=[A-Za-z]{0,6}\d)[A-Za-z0-9]{7}(?=[\\/])/g, '$1'],
    ],
    names: [[/@anonymous[\0\ufffd].{0,600}/gs, '@anonymous']],
  },
  ruby: {
    sign: /__\d|__-\d|___|#<|_run__|__tilt|_callback_/,
    text: [
      [/(?<=[a-z0-9])_{2,3}\d{3,20}_\d{1,20}(?!\w)/g, `__${NUMBER_MASK}`],
      [/#<(Class|Module|Proc|Method|UnboundMethod|Struct):0x[0-9a-f]{4,16}[^<>]{0,200}>/g, '#<$1>'],
      [/#<#<(Class|Module)>:0x[0-9a-f]{4,16}/g, '#<#<$1>'],
      // Values may be personal data.
      [/#<([A-Z][\w:]{0,200}):0x[0-9a-f]{4,16}(?: @[^\n]{0,1000}?)?>(?=$|[\s.,;:)'"`\]])/gm, '#<$1>'],
      [/\b_run__-?\d{3,24}__/g, `_run__${NUMBER_MASK}__`],
      [/\b__(tilt|bind|pow)_\d{2,24}/g, '__$1'],
      [/\b(_callback_(?:before|after|around))_\d{1,9}/g, '$1'],
    ],
    names: [
      [/\bblock \(\d{1,3} levels\) in\b/g, 'block in'],
      [/(?<=_)-?\d{4,24}(?![0-9A-Za-z])/g, NUMBER_MASK],
    ],
  },
  native: {
    sign: /::h[0-9a-f]|17h|_R\w|#\d|lambda|__\d|block_invoke|resume partial|\.(?:llvm|isra|constprop|part|cold|lto_priv)/,
    text: [
      [/::h[0-9a-f]{16}(?![0-9a-zA-Z])/g, ''],
      [/17h[0-9a-f]{16}E/g, 'E'],
      [/(?<=\b_R\w{0,12}C)s[0-9a-zA-Z]{1,14}_/g, ''],
      [/\{(closure|impl|constant|shim|closure_env)#\d{1,9}\}/g, '{$1}'],
      [/\{lambda\(([^{}\n]{0,200})\)#\d{1,9}\}/g, '{lambda($1)}'],
      [/<lambda_[0-9a-f]{4,40}>/g, '<lambda>'],
      [/'lambda\d{0,9}'/g, "'lambda'"],
      [/\b__\d{1,4}(?=[-+]\[)/g, '__'],
      [/_block_invoke(?:[_.]\d{1,9})?/g, '_block_invoke'],
      [/\bclosure #\d{1,9}/g, 'closure'],
      [/\(\d{1,5}\) (?=(?:suspend|await) resume partial function)/g, ''],
      [/(?<=\w)\.(?:llvm\.\d{1,24}|(?:isra|constprop|part|lto_priv)\.\d{1,4}|cold(?:\.\d{1,4})?(?= |$))(?!\w)/g, ''],
    ],
    names: [
      [/\s?\+\s?(?:0x[0-9a-f]{1,16}|\d{1,9})$/gi, ''],
      [/\$_\d{1,9}(?!\w)/g, '$$_'],
      [/(?<![0-9a-z])0x(?![8c][0-9a-f]{7}(?![0-9a-z]))[0-9a-f]{4,16}(?![0-9a-z])/gi, '<address>'],
    ],
  },
  go: {
    sign: NEVER_MATCHING,
    text: [],
    names: [
      [/\.(func|gowrap|deferwrap|init)\d{1,5}(?:\.\d{1,5}){0,9}(?=\.|-|$)/g, '.$1'],
      [/(?<=-range)\d{1,5}/g, ''],
    ],
  },
  beam: {
    sign: /#(?:PID|Ref|Port|Func)|-fun-/,
    text: [
      [/#(PID|Reference|Port|Function)<\d[\d.]{0,60}(?=[>/])/g, '#$1<'],
      [/-fun-\d{1,9}-/g, '-fun-'],
    ],
    names: [],
  },
  scripts: {
    sign: /_MODULE_\d|import_\d|jQuery\d|\(eval \d|__ANON__|<[a-z]|[A-Za-z]#[0-9a-f]{5}/,
    text: [
      [/__WEBPACK_IMPORTED_MODULE_\d{1,9}__/g, '__WEBPACK_IMPORTED_MODULE__'],
      [/__vite_(ssr_)?import_\d{1,9}__/g, '__vite_$1import__'],
      [/\bjQuery\d{10,30}/g, 'jQuery'],
      [
        /<(ipython-input|python-input|stdin|decorator-gen|command|cell line|attrs generated [a-z_]{1,20})[-: ]{1,2}[0-9a-f][\w-]{0,64}>/g,
        '<$1>',
      ],
      [/<(attrs generated [^<>\n]{1,200}?)-\d{1,9}>/g, '<$1>'],
      [/\(eval \d{1,9}\)/g, '(eval)'],
      [/(?<=\b_?[A-Z][A-Za-z]{1,60})#[0-9a-f]{5}(?![0-9A-Za-z])/g, '#<id>'],
      [/\b__ANON__\[[^\]\n]{0,300}\]/g, '__ANON__'],
    ],
    names: [[/(?<=^[\w$]{1,60}\.)\d{1,9}$/g, NUMBER_MASK]],
  },
};

const TABLES = Object.values(LANGUAGES);
const NAME_RULES = [...TABLES.flatMap(({ text }) => text), ...TABLES.flatMap(({ names }) => names)];
const NAME_SIGN = /[\d$<@#{\0\ufffd]|\.cold/;
const MAX_NAME_LENGTH = 600;
const SEPARATORS = /^[\s.+]+(?=[\w<])|\s+$/g;

const applyRules = (text: string, rules: readonly Rule[]): string =>
  rules.reduce((masked, [pattern, instead]) => masked.replace(pattern, instead), text);

/** Masks generated names in a message. @param text bounded by the caller */
export const maskNamesInText = (text: string): string =>
  TABLES.reduce((masked, { sign, text: rules }) => (sign.test(masked) ? applyRules(masked, rules) : masked), text);

/** Masks the generated parts of a function, class or method name. */
export function maskGeneratedName(name: string): string {
  const given = name.length > MAX_NAME_LENGTH ? name.slice(0, MAX_NAME_LENGTH) : name;
  return NAME_SIGN.test(given) ? applyRules(given, NAME_RULES).replace(SEPARATORS, '') : given;
}

const UNREADABLE_PATTERN = /@anonymous.{1,600}|(?<=#<(?:Class|Module|Struct)):0x[0-9a-f]{4,16}/gis;

/** Returns a displayable class name, without the path, address or NUL of anonymous classes. */
export const toReadableClass = (name: string): string =>
  name.includes('@anonymous') || name.includes('#<')
    ? name.replace(UNREADABLE_PATTERN, (found) => (found.startsWith('@') ? '@anonymous' : ''))
    : name;
