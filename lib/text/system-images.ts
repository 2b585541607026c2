/**
 * Images and functions that are not the origin of a native crash (contract 21, amendments):
 * systems, runtimes, drivers, crash handlers.
 */

const IMAGE_NAMES = [
  'libsystem(?:_[a-z_]{1,40}|\\.b)?',
  'libc\\+\\+(?:abi)?(?:\\.1)?',
  'libobjc(?:-trampolines)?(?:\\.a)?',
  'libdyld|dyld(?:_sim)?|libdispatch|libxpc|libswift\\w{1,40}|libmacho|libcommoncrypto|libsqlite3|libnetwork|libboringssl',
  'corefoundation|foundation|cfnetwork|uikit(?:core|macosservices)?|appkit|swiftui(?:core)?|quartzcore|coregraphics|coretext|coredata',
  'graphicsservices|frontboardservices|runningboardservices|boardservices|hitoolbox|javascriptcore|webkit(?:legacy)?|webcore',
  'metal(?:kit|tools)?|avfoundation|avfaudio|coremedia|videotoolbox|audiotoolbox|coreaudio|agx\\w{1,40}|iogpu|iokit|glengine|opengl(?:es)?|libgpusupport\\w{0,20}',
  'security|network|corelocation|usernotifications|photos|mapkit|combine|libmainthreadchecker|libbacktracerecording|libviewdebuggersupport',
  'libc|libpthread|ld-linux(?:-[a-z0-9_-]{1,20})?|ld-[\\d.]{1,12}|ld-musl(?:-[a-z0-9_]{1,12})?|libdl|libm|librt|linux-(?:vdso|gate)(?:64|32)?|\\[?vdso\\]?',
  'libstdc\\+\\+|libgcc_s|libc\\+\\+(?:_shared)?|libgomp|libunwind\\w{0,12}|libglib-2\\.0|libgobject-2\\.0|libgio-2\\.0|libx11|libxcb|libwayland-\\w{1,12}',
  'linker(?:64)?|app_process(?:32|64)?|libart(?:base|-compiler)?|libandroid(?:_runtime|fw)?|libbinder|libutils|libhwui|libgui|libinput(?:flinger)?|liblog|libui|libbase|libdvm|libnativehelper|boot(?:-[\\w.-]{1,40})?|libjavacore|libopenjdk(?:jvm)?',
  'ntdll|kernel32|kernelbase|ucrtbased?|msvcrt|msvcp\\d{2,3}\\w{0,12}|vcruntime\\d{2,3}\\w{0,4}|concrt\\d{3}|user32|win32u|gdi32(?:full)?|gdiplus',
  'advapi32|sechost|rpcrt4|combase|ole32|oleaut32|shell32|shlwapi|shcore|ws2_32|mswsock|bcrypt\\w{0,12}|crypt32|comctl32|imm32|msctf|uxtheme|dwmapi|winmm|wow64(?:cpu|win)?|apphelp|verifier|dbghelp|ntoskrnl',
  'xinput\\w{0,12}|dsound|mmdevapi|audioses|windows\\.\\w[\\w.]{0,60}|coremessaging|textinputframework|clr(?:jit)?|coreclr|mscorwks|mscoree|hostfxr|hostpolicy',
  'd3d\\w{1,14}|dxgi\\w{0,8}|dxcore|opengl32|vulkan-1|libvulkan\\w{0,24}|libegl\\w{0,24}|libgl(?:x|dispatch|esv\\w{1,3})?(?:_\\w{1,30})?|libmali\\w{0,20}|libadreno\\w{0,20}',
  'nv[a-z]{1,14}(?:32|64|umx?|xx)?\\w{0,6}|libnvidia[\\w-]{0,30}|libcuda\\w{0,12}|ati[a-z]{2,10}(?:32|64)?|ami?d[a-z]{2,12}(?:32|64)|ig\\w{4,20}(?:32|64)|igd\\w{3,24}|iris_dri|radeonsi_dri|swrast_dri|\\w{2,20}_dri|libdrm\\w{0,16}|libllvm[\\w.-]{0,12}|libgallium\\w{0,12}|libz3',
  'sentry(?:\\w{0,12}|-native)?|libsentry[\\w-]{0,20}|crashpad\\w{0,20}|breakpad\\w{0,20}|libclang_rt[\\w.-]{0,40}|lib[atu]san|kscrash\\w{0,20}|(?:firebase)?crashlytics|bugsnag\\w{0,20}|plcrashreporter|gwp_asan|hockeysdk|crashrpt\\w{0,8}',
  'libpython[\\d.]{1,8}|python\\d{1,3}|libjvm|jvm|libjli|java|libmono\\w{0,24}|mono[\\w.-]{0,20}|libnode|libruby[\\w.-]{0,12}|libphp\\d?|libgo|libcoreclr|libclrjit|libhostfxr|libhostpolicy|libsystem\\.native|libv8\\w{0,12}|libhermes\\w{0,12}|libjsc|libflutter|flutter(?:_windows)?|libil2cpp_runtime',
].join('|');
const IMAGE_PATTERN = new RegExp(`^(?:${IMAGE_NAMES})$`);
const ENDING_PATTERN = /(?:\.(?:dll|dylib|exe|so|drv|sys|oat|odex|apex|framework|tbd|\d{1,6}))+$/;
const FOLDER_PATTERN =
  /^(?:\/usr\/lib\/(?:system|swift|x86_64-linux-gnu|aarch64-linux-gnu)\/|\/System\/|\/Library\/Apple\/|\/system\/|\/apex\/|\/vendor\/|\/lib(?:32|64)?\/|[a-z]:\\windows\\|\/usr\/lib\/lib(?:system|objc|c\+\+|dispatch|z|sqlite3)[\w.+]{0,40}$)/i;

/** Functions that terminate a process or raise errors. */
const FUNCTION_PATTERN =
  /^_{0,3}(?:abort|abort_message|raise|gsignal|pthread_kill|pthread_start|thread_start|kill|exit|terminate|fatal|assert(?:_fail|_rtn|_func)?|libc_(?:start_main|fatal|message|start_call_main)|cxa_(?:throw|rethrow|bad_cast|pure_virtual|allocate_exception|begin_catch)|objc_(?:exception_(?:throw|rethrow)|terminate|msgSend\w{0,20})|exceptionPreprocess|sigtramp|restore_rt|kernel_rt_sigreturn|stack_chk_fail|chk_fail|forced_unwind|gcc_personality\w{0,8}|gxx_personality\w{0,8}|Unwind_\w{1,40}|demangling_terminate_handler\w{0,12}|RaiseException|RtlRaise\w{1,20}|RtlUserThreadStart|BaseThreadInitThunk|KiUserExceptionDispatch\w{0,4}|CxxThrowException|invalid_parameter\w{0,20}|invoke_watson|UnhandledExceptionFilter|scrt_common_main\w{0,8}|swift_runtime_\w{1,40}|swift_\w{0,20}[fF]atal\w{0,20}|malloc\w{0,20}|free\w{0,12}|operator (?:new|delete)(?:\[\])?|memcpy\w{0,20}|memmove\w{0,20}|memset\w{0,20}|strlen\w{0,20}|start|_start|mach_msg\w{0,24}|syscall|semaphore_wait_trap)(?:\(.{0,200})?$|^std::(?:terminate|__terminate|__throw_\w{1,40}|rethrow_exception|__1::__throw_\w{1,40})\b|^__cxxabiv1::|^(?:google_breakpad|crashpad|sentry)::|^sentry__?\w|^art::|^swift::(?:fatalError|swift_)|^-\[NSException raise\]|^\+\[NSException raise/;

const getImageName = (image: string): string =>
  image
    .slice(Math.max(image.lastIndexOf('/'), image.lastIndexOf('\\')) + 1)
    .toLowerCase()
    .replace(ENDING_PATTERN, '');

/**
 * Returns whether this is no origin of a crash.
 * @param image path or name
 */
export function isSystemImage(image: string): boolean {
  const path = image.slice(-1024);
  return FOLDER_PATTERN.test(path) || IMAGE_PATTERN.test(getImageName(path));
}

export const isSystemFunction = (name: string): boolean => FUNCTION_PATTERN.test(name.slice(0, 300).trim());
