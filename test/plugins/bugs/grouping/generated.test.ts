/**
 * Generated parts of names, files and addresses (contract 21, amendments): both directions,
 * language by language.
 */
import { expect } from 'chai';
import { normalizeFunction, normalizeOrigin } from '../../../../plugins/bugs/grouping/origin.js';
import { computeGrouping } from '../../../../plugins/bugs/grouping/grouping-key.js';
import { maskGeneratedName, maskNamesInText } from '../../../../lib/text/generated-names.js';

type Pairs = readonly (readonly [string, string])[];

const SAME_NAMES: Readonly<Record<string, Pairs>> = {
  Ruby: [
    ['_app_views_orders_show_html_erb__4387232412_70235', '_app_views_orders_show_html_erb___1043243242_61240'],
    ['block in _app_views_a_html_haml___1234567_89', 'block (2 levels) in _app_views_a_html_haml__42424242_7000'],
    ['ActionView::Base#_app_views_a_html_erb__123456_70', 'ActionView::Base#_app_views_a_html_erb___98765_80'],
    ['#<Class:0x000055d0c8a1f0a8>#charge', '#<Class:0x00007fbeef00aa10>#charge'],
    ['__tilt_70123456789', '__tilt_33'],
    ['block (3 levels) in charge', 'block (2 levels) in charge'],
    ['_run__1234567890__process_action__callbacks', '_run__-98765432__process_action__callbacks'],
  ],
  PHP: [
    ['class@anonymous/app/Job.php:12$3e0::run', 'class@anonymous/app/Job.php:12$0::run'],
    ['class@anonymous\0/app/Job.php:12$3e0::run', 'class@anonymous\0/srv/b/Job.php:9$0::run'],
    ['class@anonymous/app/Job.php0x7f3c2a1b::run', 'class@anonymous/app/Job.php0x7f3cffff::run'],
    ['App\\Pay@anonymous\ufffd/srv/1/Pay.php:12$3e0::run', 'App\\Pay@anonymous\ufffd/srv/2/Pay.php:15$41::run'],
    ['{closure:App\\Job::run():12}', '{closure:App\\Job::run():14}'],
    ['{closure:/srv/releases/1/a.php:12}', '{closure:/srv/releases/2/a.php:13}'],
    [
      '__TwigTemplate_3f2504e04f8911d39a0c0305e82c3301::doDisplay',
      '__TwigTemplate_9b2c4d11aaaabbbb8ccc1234567890ab::doDisplay',
    ],
    [
      'ComposerAutoloaderInit3f2504e04f8911d39a0c0305e82c3301::getLoader',
      'ComposerAutoloaderInit9b2c4d11aaaabbbb8ccc1234567890ab::getLoader',
    ],
    ['App\\UserGhost614a58f::__get', 'App\\UserGhostd1e8f2a::__get'],
  ],
  Java: [
    ['lambda$total$3', 'lambda$total$5'],
    ['com.acme.Cart.lambda$total$3', 'com.acme.Cart.lambda$total$11'],
    ['Cart$$Lambda$14/0x0000000800c03000.run', 'Cart$$Lambda$28/0x0000000801d04000.run'],
    ['Cart$$Lambda/0x000071a4c8001000.run', 'Cart$$Lambda/0x000071a4c8002218.run'],
    ['Cart$$Lambda$14/1234567890.run', 'Cart$$Lambda$2/99.run'],
    ['com.sun.proxy.$Proxy42.total', 'com.sun.proxy.$Proxy7.total'],
    ['jdk.proxy2.$Proxy17.total', 'jdk.proxy3.$Proxy18.total'],
    ['Cart$$EnhancerBySpringCGLIB$$1a2b3c4d.total', 'Cart$$EnhancerBySpringCGLIB$$ffeeddcc.total'],
    ['Cart$$SpringCGLIB$$0.total', 'Cart$$SpringCGLIB$$1.total'],
    ['Cart$$FastClassBySpringCGLIB$$1a2b3c4d.invoke', 'Cart$$FastClassBySpringCGLIB$$99aabbcc.invoke'],
    ['Cart$HibernateProxy$aB3dEfGh.total', 'Cart$HibernateProxy$Zz9yXwVu.total'],
    ['Cart_$$_jvst1a2_3.total', 'Cart_$$_jvst9ff_0.total'],
    ['jdk.internal.reflect.GeneratedMethodAccessor42.invoke', 'jdk.internal.reflect.GeneratedMethodAccessor7.invoke'],
    [
      'java.lang.invoke.LambdaForm$DMH/0x0000000800c03000.invoke',
      'java.lang.invoke.LambdaForm$DMH/0x0000000801c03000.invoke',
    ],
    ['Cart$1.run', 'Cart$2.run'],
    ['-$$Lambda$MainActivity$Ak1X0aB_cDeFgHiJkLmNoPqRsTu', '-$$Lambda$MainActivity$zZ9yXwVuTsRqPoNmLkJiHgFeDcB'],
    ['Cart$$ExternalSyntheticLambda0.run', 'Cart$$ExternalSyntheticLambda12.run'],
    ['$r8$lambda$Ak1X0aBcDeFgHiJkLmNoPqRs-Tu', '$r8$lambda$zZ9yXwVuTsRqPoNmLkJiHg-FeDcB'],
  ],
  Kotlin: [
    ['ScreenKt$load$1.invokeSuspend', 'ScreenKt$load$2.invokeSuspend'],
    ['load$lambda$0', 'load$lambda$3'],
    ['load$lambda-0', 'load$lambda-2'],
    ['ComposableSingletons$MainKt$lambda-1$1.invoke', 'ComposableSingletons$MainKt$lambda-2$1.invoke'],
  ],
  Scala: [
    ['$anonfun$total$1', '$anonfun$total$4'],
    ['Cart$$anonfun$total$1.apply', 'Cart$$anonfun$total$2.apply'],
    ['liftedTree1$1', 'liftedTree2$1'],
  ],
  'Groovy and Clojure': [
    ['Script1$_run_closure1.doCall', 'Script1$_run_closure2.doCall'],
    ['user$eval1234$fn__5678.invoke', 'user$eval99$fn__101.invoke'],
  ],
  '.NET': [
    ['Acme.Job.<RunAsync>d__24.MoveNext', 'Acme.Job.<RunAsync>d__25.MoveNext'],
    ['Acme.Job+<RunAsync>d__24.MoveNext', 'Acme.Job+<RunAsync>d__3.MoveNext'],
    ['Acme.Job.<>c.<Total>b__0_1', 'Acme.Job.<>c.<Total>b__2_1'],
    ['Acme.Job.<>c__DisplayClass5_0.<Total>b__1', 'Acme.Job.<>c__DisplayClass7_1.<Total>b__0'],
    [
      'Acme.Job.<>c__DisplayClass5_0.<<RunAsync>b__0>d.MoveNext',
      'Acme.Job.<>c__DisplayClass6_0.<<RunAsync>b__2>d.MoveNext',
    ],
    ['Acme.Job.<Total>g__Sum|3_0', 'Acme.Job.<Total>g__Sum|4_1'],
    ['Acme.Job.<<Total>g__Sum|3_0>d.MoveNext', 'Acme.Job.<<Total>g__Sum|4_0>d.MoveNext'],
    ['Acme.Job.<Items>d__3`1.MoveNext', 'Acme.Job.<Items>d__5`1.MoveNext'],
    ['Acme.Job.Run [0x0001f]', 'Acme.Job.Run [0x00123]'],
    ['Acme.Job.Run + 0x1f', 'Acme.Job.Run + 0x2a1'],
    ['lambda_method12', 'lambda_method7'],
    ['App_Web_x1y2z3ab.Page_Load', 'App_Web_q9w8e7rt.Page_Load'],
    ['Acme.Job.VB$StateMachine_3_RunAsync.MoveNext', 'Acme.Job.VB$StateMachine_5_RunAsync.MoveNext'],
    ['Program.total@42', 'Program.total@47-1'],
  ],
  'Rust, C and C++': [
    ['shop::total::h0123456789abcdef', 'shop::total::hfedcba9876543210'],
    ['_ZN4shop5total17h0123456789abcdefE', '_ZN4shop5total17hfedcba9876543210E'],
    ['_RNvCs1234abcd_4shop5total', '_RNvCsdcba4321_4shop5total'],
    ['shop::total::{closure#0}', 'shop::total::{closure#2}'],
    ['total(int)::{lambda(int)#1}::operator()', 'total(int)::{lambda(int)#2}::operator()'],
    ['<lambda_3f2504e04f8911d39a0c0305e82c3301>::operator()', '<lambda_9b2c4d11aaaabbbb8ccc1234567890ab>::operator()'],
    ['total.constprop.0', 'total.constprop.3'],
    ['total.llvm.1234567890', 'total.llvm.987654321'],
    ['total + 123', 'total + 77'],
    ['total+0x1f', 'total+0x2b'],
    ['sub_0x7ff61234', 'sub_0x7ff6abcd'],
  ],
  'Swift and Objective-C': [
    ['closure #1 in Cart.total()', 'closure #3 in Cart.total()'],
    ['__29-[Cart total]_block_invoke', '__31-[Cart total]_block_invoke_2'],
    ['-[Cart total] + 123', '-[Cart total] + 7'],
  ],
  Go: [
    ['main.(*Cart).Total.func1', 'main.(*Cart).Total.func3'],
    ['main.Total.func1.2', 'main.Total.func2.1'],
    ['main.Total.gowrap1', 'main.Total.gowrap2'],
  ],
  Python: [
    ['<cell line: 1>', '<cell line: 12>'],
    ['<ipython-input-3-3f2504e04f89>', '<ipython-input-14-9b2c4d11aaaa>'],
    ['<python-input-3>', '<python-input-0>'],
  ],
  JavaScript: [
    ['total$1', 'total$2'],
    ['Object.4711', 'Object.815'],
    ['__vite_ssr_import_3__.total', '__vite_ssr_import_5__.total'],
    ['_cart__WEBPACK_IMPORTED_MODULE_3__.total', '_cart__WEBPACK_IMPORTED_MODULE_7__.total'],
    ['jQuery331012345678901', 'jQuery331098765432109'],
  ],
  'Elixir and Perl': [
    ['-total/2-fun-0-', '-total/2-fun-3-'],
    ['main::(eval 12)', 'main::(eval 7)'],
    ['main::__ANON__[/srv/1/a.pl:12]', 'main::__ANON__[/srv/2/a.pl:14]'],
  ],
};

const OTHER_NAMES: Pairs = [
  ['lambda$total$3', 'lambda$price$3'],
  ['ScreenKt$load$1.invokeSuspend', 'ScreenKt$save$1.invokeSuspend'],
  ['Pool$Reader.run', 'Pool$Writer.run'],
  ['Acme.Job.<RunAsync>d__24.MoveNext', 'Acme.Job.<StopAsync>d__24.MoveNext'],
  ['Acme.Job.<>c.<Total>b__0_1', 'Acme.Job.<>c.<Price>b__0_1'],
  ['Acme.Job.<Total>g__Sum|3_0', 'Acme.Job.<Total>g__Max|3_0'],
  ['_app_views_orders_show_html_erb__43872_70', '_app_views_orders_edit_html_erb__43872_70'],
  ['class@anonymous/app/Job.php:12$3e0::run', 'class@anonymous/app/Job.php:12$3e0::stop'],
  ['{closure:App\\Job::run():12}', '{closure:App\\Job::stop():12}'],
  ['shop::total::h0123456789abcdef', 'shop::price::h0123456789abcdef'],
  ['__29-[Cart total]_block_invoke', '__29-[Cart price]_block_invoke'],
  ['main.(*Cart).Total.func1', 'main.(*List).Total.func1'],
  ['Cart.run', 'Cart$1.run'],
  ['base64Encode', 'base32Encode'],
  ['handleV1', 'handleV2'],
  ['utf8Length', 'utf16Length'],
  ['sha256', 'sha512'],
  ['step_1', 'step_2'],
  ['__init__', '__exit__'],
  ['List`1.get_Item', 'List`2.get_Item'],
  ['HTMLButtonElement.onclick', 'HTMLInputElement.onclick'],
];

describe('generated names', () => {
  for (const [language, pairs] of Object.entries(SAME_NAMES))
    for (const [a, b] of pairs)
      it(`${language}: treats ${JSON.stringify(a)} and ${JSON.stringify(b)} as equal`, () => {
        expect(maskGeneratedName(a)).to.equal(maskGeneratedName(b)).and.not.equal('');
        expect(maskGeneratedName(maskGeneratedName(a))).to.equal(maskGeneratedName(a));
      });
  for (const [a, b] of OTHER_NAMES)
    it(`distinguishes ${JSON.stringify(a)} from ${JSON.stringify(b)}`, () =>
      expect(normalizeFunction(a)).not.to.equal(normalizeFunction(b)));

  it('leaves prices and words in messages unchanged', () => {
    for (const text of ['costs US$5 more', 'a total of $42', 'utf8 and base64', 'closure #tag', 'a__b', 'x @ 12'])
      expect(maskNamesInText(text)).to.equal(text);
  });

  it('masks generated parts of class names in the key', () => {
    const key = (exception_class: string): string =>
      computeGrouping({ type: 'error', project: 'p', error_message: 'm', exception_class }).dedup_key;
    expect(key('com.acme.Pay$1')).to.equal(key('com.acme.Pay$2'));
    expect(key('com.acme.Pay$Late')).not.to.equal(key('com.acme.Pay$Early'));
    expect(key('#<Class:0x000055d0c8a1f0a8>')).to.equal(key('#<Class:0x00007fbeef00aa10>'));
    expect(key('Error404')).not.to.equal(key('Error500'));
  });
});

const SAME_FILES: Readonly<Record<string, Pairs>> = {
  pages: [
    ['https://shop.example/orders/4711', 'https://shop.example/orders/4712'],
    ['https://shop.example/orders/4711?x=1#top', 'http://other.example/orders/12'],
    ['https://shop.example/#/orders/4711', 'https://shop.example/#/orders/12'],
    ['app:///story/05-rain/kTw9B4zd-part-14-de', 'app:///story/06-snow/xHn2V8re-part-3-de'],
    [
      'https://q17xk2.cdn.example/widget-frame/_ctx_K7wQBBBBBBBBZC1WWx38dNCE9Gy5P',
      'https://mnbv3.cdn.example/widget-frame/_ctx_K7wQBBBBBBBBZC1WWYV-aLAU2M47Nx',
    ],
    ['https://shop.example/de/cart', 'https://shop.example/en-GB/cart'],
    [
      'https://shop.example/orders/3f2504e0-4f89-11d3-9a0c-0305e82c3301/edit',
      'https://shop.example/orders/9b2c4d11-aaaa-4bbb-8ccc-1234567890ab/edit',
    ],
    ['https://shop.example/item/4711.html:12:3', 'https://shop.example/item/4712.html:1:2'],
  ],
  'build folders': [
    [
      'https://shop.example/_next/static/V1StGXR8_Z5jdHi6B-myT/_app.js',
      'https://shop.example/_next/static/kq3Pz0aLx2ByWc_9dEfGh/_app.js',
    ],
    [
      'https://shop.example/_next/static/abcdefghijkl/_buildManifest.js',
      'https://shop.example/_next/static/build-17/_buildManifest.js',
    ],
    ['/_nuxt/3f2504e/entry.js', '/_nuxt/9b2c4d1/entry.js'],
    ['/_nuxt/entry.3f2504e.js', '/_nuxt/entry.9b2c4d1.js'],
    ['/srv/releases/20261101120000/app.js', '/srv/releases/20261115080000/app.js'],
    ['/srv/releases/42/app.js', '/srv/releases/43/app.js'],
    ['/srv/builds/3f2504e/app.js', '/srv/builds/9b2c4d1/app.js'],
    ['static/js/417.9f8a7b6c.chunk.js', 'static/js/417.aabbccd1.chunk.js'],
    [
      'component---src-pages-index-js-3f2504e0a1b2c3d4e5f6.js',
      'component---src-pages-index-js-aaaaaaaaa1b2c3d4e5f6.js',
    ],
  ],
  'version folders': [
    ['/srv/shop-1.4.2/app.js', '/srv/shop-1.4.3/app.js'],
    ['/srv/shop-v1.4.2-rc.1/app.js', '/srv/shop-v1.5.0/app.js'],
    ['/srv/shop_1.4.2/app.js', '/srv/shop_2.0/app.js'],
    ['/srv/1.4.2/app.js', '/srv/2.0.11/app.js'],
    ['/srv/v1.4.2/app.js', '/srv/v2.0.0/app.js'],
    ['/go/pkg/mod/github.com/pkg/errors@v0.9.1/errors.go', '/go/pkg/mod/github.com/pkg/errors@v0.9.2/errors.go'],
    ['/usr/lib/python3.11/threading.py', '/usr/lib/python3.12/threading.py'],
    ['/srv/2026-11-28/app.py', '/srv/2026-11-29/app.py'],
    ['/srv/shop-3f2504e0a1/app.js', '/srv/shop-9b2c4d11aa/app.js'],
    ['js/jquery-3.6.0.min.js', 'js/jquery-3.7.1.min.js'],
  ],
  'temporary files': [
    ['/tmp/ipykernel_5103/1907735521.py', '/tmp/ipykernel_77/88402317.py'],
    ['/tmp/tmpq_xkzpwa/job.py', '/tmp/tmp9dk3l2mf/job.py'],
    ['/tmp/tmpq_xkzpwa.py', '/tmp/tmp9dk3l2mf.py'],
    ['/var/folders/zz/zyx_n0000gn/T/tmpq_xkzpwa/job.py', '/var/folders/ab/abc_q1111gn/T/tmp9dk3l2mf/job.py'],
    ['C:\\Users\\ann\\AppData\\Local\\Temp\\_MEI12342\\job.py', 'C:\\Users\\bob\\AppData\\Local\\Temp\\_MEI98\\job.py'],
    ['/tmp/.tmpAbCdEf/job.rs', '/tmp/.tmpQwErTy/job.rs'],
    ['/tmp/tmp.AbCdEfGhIj/job.sh', '/tmp/tmp.QwErTyUiOp/job.sh'],
    ['/tmp/build-4711/job.py', '/tmp/build-12/job.py'],
    ['/tmp/go-build1234567/b001/main.go', '/tmp/go-build7654321/b001/main.go'],
    ['/databricks/x/<command-1234567890>', '/databricks/x/<command-99887766>'],
    ['<ipython-input-3-3f2504e04f89>', '<ipython-input-14-9b2c4d11aaaa>'],
  ],
  'containers and pods': [
    [
      '/var/lib/docker/overlay2/3f2504e04f8911d39a0c0305e82c3301aabbccdd/app.py',
      '/var/lib/docker/overlay2/9b2c4d11aaaabbbb8ccc1234567890ab11223344/app.py',
    ],
    [
      '/var/lib/kubelet/pods/3f2504e0-4f89-11d3-9a0c-0305e82c3301/app.py',
      '/var/lib/kubelet/pods/9b2c4d11-aaaa-4bbb-8ccc-1234567890ab/app.py',
    ],
    ['/srv/shop-7d9f8c6b5-x2x4z/app.py', '/srv/shop-6b5c4d7f88-zk9bq/app.py'],
    ['/mnt/application_1699_0001/job.py', '/mnt/application_1700_0012/job.py'],
  ],
  'evaluated code': [
    ['(eval at /srv/app/x.rb:3)', '(eval at /srv/app/x.rb:9)'],
    ["/srv/app/x.php(12) : eval()'d code", "/srv/app/x.php(15) : eval()'d code"],
    ['VM123 app.js', 'VM4 app.js'],
  ],
  'shared objects': [['libshop.so.1.1', 'libshop.so.3']],
  'hidden classes': [
    ['com.acme.Cart$$Lambda$14/0x0000000800c03000', 'com.acme.Cart$$Lambda$28/0x0000000801d04000'],
    ['Acme.Job+<RunAsync>d__24', 'Acme.Job+<RunAsync>d__25'],
  ],
};

const OTHER_FILES: Pairs = [
  ['https://shop.example/orders/4711', 'https://shop.example/carts/4711'],
  ['https://shop.example/orders/1/2', 'https://shop.example/carts/1/2'],
  ['https://shop.example/_next/static/chunks/a.js', 'https://shop.example/_next/static/css/a.js'],
  ['/srv/shop-1.4.2/app.js', '/srv/blog-1.4.2/app.js'],
  ['api/v1/orders.js', 'api/v2/orders.js'],
  ['oauth1/token.py', 'oauth2/token.py'],
  ['/tmp/exports/job.py', '/tmp/imports/job.py'],
  ['src/tmp_export/job.py', 'src/tmp_import/job.py'],
  ['src/temp/reader.py', 'src/temp/writer.py'],
  ['src/facade1.js', 'src/facade2.js'],
  ['src/report-final/a.py', 'src/report-draft/a.py'],
  ['Http2Client/a.cs', 'Http3Client/a.cs'],
  ['Base64Util/a.cs', 'Base32Util/a.cs'],
  ['level1/a.py', 'level2/a.py'],
  ['chunks/417.js', 'chunks/12.js'],
  ['report_2024.py', 'report_2025.py'],
  ['builds/mac/a.js', 'builds/linux/a.js'],
  ['Pool.java', 'Cart.java'],
  ['app:///index.android.bundle', 'app:///main.jsbundle'],
];

describe('generated parts of files', () => {
  for (const [kind, pairs] of Object.entries(SAME_FILES))
    for (const [a, b] of pairs)
      it(`${kind}: treats ${a} and ${b} as equal`, () => expect(normalizeOrigin(a)).to.equal(normalizeOrigin(b)));
  for (const [a, b] of OTHER_FILES)
    it(`distinguishes ${a} from ${b}`, () => expect(normalizeOrigin(a)).not.to.equal(normalizeOrigin(b)));
});
