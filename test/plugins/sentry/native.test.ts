/**
 * Where a native crash comes from when its SDK does not say which frames are the application's
 * (contract 21).
 */
import { expect } from 'chai';
import { convertEvent } from '../../../plugins/sentry/event-converter.js';
import { isSystemImage } from '../../../lib/text/system-images.js';

type Given = readonly [image: string | null, name: string | null];

/** @param frames the crash first */
function placeOf(platform: string, ...frames: Given[]): string {
  const given = frames.map(([image, name], i) => ({
    package: image,
    function: name,
    instruction_addr: `0x${1000 + i}`,
  }));
  const event = { platform, exception: { values: [{ type: 'SIGABRT', stacktrace: { frames: given.toReversed() } }] } };
  const { file, function: name } = convertEvent(event, { project: 'shop', id: '1' }).report;
  return `${file ?? ''}#${name ?? ''}`;
}

const CRASHES: Readonly<Record<string, readonly [string, string, ...Given[]]>> = {
  'Apple, an exception of Objective-C': [
    'Shop#-[Cart total]',
    'cocoa',
    ['/usr/lib/system/libsystem_kernel.dylib', '__pthread_kill'],
    ['/usr/lib/system/libsystem_c.dylib', 'abort'],
    ['/usr/lib/libc++abi.dylib', '__cxa_throw'],
    ['/usr/lib/libobjc.A.dylib', 'objc_exception_throw'],
    ['/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation', '-[__NSArrayM objectAtIndex:]'],
    ['/private/var/containers/Bundle/Application/3F2504E0-4F89-11D3-9A0C-0305E82C3301/Shop.app/Shop', '-[Cart total]'],
    ['/System/Library/PrivateFrameworks/UIKitCore.framework/UIKitCore', 'UIApplicationMain'],
  ],
  Windows: [
    'shop.exe#Cart::total',
    'native',
    ['C:\\Windows\\System32\\ntdll.dll', 'RtlUserThreadStart'],
    ['C:\\Windows\\System32\\KERNELBASE.dll', 'RaiseException'],
    ['C:\\Windows\\System32\\ucrtbase.dll', 'abort'],
    ['C:\\Windows\\System32\\VCRUNTIME140.dll', '_CxxThrowException'],
    ['C:\\Program Files\\Shop\\shop.exe', 'Cart::total'],
  ],
  'a graphics driver and a crash handler': [
    'game.exe#Renderer::draw',
    'native',
    ['C:\\Shop\\crashpad_handler.exe', 'Capture'],
    ['C:\\Windows\\System32\\DriverStore\\nvwgf2umx.dll', 'OpenAdapter12'],
    ['C:\\Windows\\System32\\d3d11.dll', 'CContext::Draw'],
    ['D:\\Game\\game.exe', 'Renderer::draw'],
  ],
  Linux: [
    'shopd#Cart::total(int)',
    'native',
    ['/lib/x86_64-linux-gnu/libc.so.6', 'gsignal'],
    ['/lib/x86_64-linux-gnu/libc.so.6', 'abort'],
    ['/usr/lib/x86_64-linux-gnu/libstdc++.so.6', 'std::terminate()'],
    ['/opt/shop/bin/shopd', 'Cart::total(int)'],
  ],
  Android: [
    'libshop.so#Java_com_acme_Cart_total',
    'native',
    ['/apex/com.android.runtime/lib64/bionic/libc.so', 'abort'],
    ['/apex/com.android.art/lib64/libart.so', 'art::Runtime::Abort(char const*)'],
    ['/data/app/~~AbCd==/com.acme.shop-XyZ==/lib/arm64/libshop.so', 'Java_com_acme_Cart_total'],
  ],
  'nothing of the application': [
    'libsystem_kernel.dylib#__pthread_kill | abort | __cxa_throw',
    'cocoa',
    ['/usr/lib/system/libsystem_kernel.dylib', '__pthread_kill'],
    ['/usr/lib/system/libsystem_c.dylib', 'abort'],
    ['/usr/lib/libc++abi.dylib', '__cxa_throw'],
    ['/usr/lib/libobjc.A.dylib', 'objc_exception_throw'],
  ],
  'functions alone': [
    'system#abort | std::terminate() | raise',
    'native',
    [null, 'abort'],
    [null, 'std::terminate()'],
    [null, 'raise'],
  ],
};

describe('sentry native crashes', () => {
  for (const [name, [place, platform, ...frames]] of Object.entries(CRASHES))
    it(`finds the crash location: ${name}`, () => expect(placeOf(platform, ...frames)).to.equal(place));

  it('follows in_app of the SDK where it is set', () => {
    const frames = [
      { package: '/opt/shop/bin/shopd', function: 'main', in_app: true },
      { package: '/opt/shop/lib/libcurl.so', function: 'curl_easy_perform', in_app: false },
    ];
    const event = { platform: 'native', exception: { values: [{ type: 'SIGSEGV', stacktrace: { frames } }] } };
    expect(convertEvent(event, { project: 'shop', id: '1' }).report).to.include({ file: 'shopd', function: 'main' });
  });

  it('distinguishes an application’s library from a system library', () => {
    for (const image of [
      'libshop.so',
      'libcart.dylib',
      'shop.exe',
      'networking.dll',
      'native_shop',
      '/usr/lib/shop/libshop.so',
      'security-check',
      'navigator.dll',
      'amduck',
      'igloo.dll',
    ])
      expect(isSystemImage(image), image).to.equal(false);
  });
});
