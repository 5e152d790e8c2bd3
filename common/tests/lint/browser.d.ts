// browser.d.ts: what a page's scripts find in a browser, and run.js in node, for scripts_test.py. Of these
// nothing is checked but that the name is one.
declare const document: any, window: any, location: any, history: any, self: any, top: any, console: any, navigator: any;
declare const localStorage: any, performance: any, WebAssembly: any, process: any;
declare const innerHeight: number, scrollY: number, devicePixelRatio: number;
declare const Worker: any, Blob: any, URL: any, URLSearchParams: any, Response: any, TextDecoder: any;
declare const DecompressionStream: any, IntersectionObserver: any, ResizeObserver: any, Option: any;
declare const Event: any, KeyboardEvent: any, WheelEvent: any;
declare let onmessage: any;
declare function postMessage(message: any): void;
declare function addEventListener(name: string, listener: any, options?: any): void;
declare function setTimeout(called: any, ms?: number): number;
declare function clearTimeout(id: any): void;
declare function setInterval(called: any, ms: number): number;
declare function clearInterval(id: any): void;
declare function requestAnimationFrame(called: any): number;
declare function matchMedia(query: string): any;
declare function getComputedStyle(element: any): any;
declare function scrollTo(x: any, y?: number): void;
declare function atob(text: string): string;
declare function confirm(question: string): boolean;
declare function require(name: string): any;
declare module "fs";
declare module "path";
interface Array<T> { findLast(found: (element: T) => any): T | undefined; }

// Of worker.js, which a module is put before; of the site's search, Sphinx's stemmer and the build's index.
declare const hopper_simulator: any, EnglishStemmer: any, PAGES: any;
