/**
 * Official builds of ONNX Runtime from 1.29 on send usage events to Microsoft and keep a device id in the home folder
 * (microsoft/onnxruntime pull request 27379). This variable, set before the library is loaded, prevents all of it. It must be
 * set in the main thread: a worker's `process.env` is a copy that native code does not see.
 */
export function disableRuntimeTelemetry(): void {
  process.env.ORT_DISABLE_TELEMETRY = '1';
}
