@echo off
rem Registers the wgcl.dll that is in the directory of this script, for all OpenCL programs. Requires administrator rights, except for /query.
rem
rem   register            registers the library
rem   register /query     prints whether it is registered
rem   register /remove    removes the entry
setlocal
set "key=HKLM\SOFTWARE\Khronos\OpenCL\Vendors"
set "library=%~dp0wgcl.dll"

if "%~1"=="" goto add
if /i "%~1"=="/query" goto query
if /i "%~1"=="/remove" goto remove
echo usage: register [/query ^| /remove]
exit /b 2

:add
if not exist "%library%" (
    echo %library%: file not found
    exit /b 1
)
reg add "%key%" /v "%library%" /t REG_DWORD /d 0 /f >nul
if errorlevel 1 (
    echo cannot write to %key%: run this script as administrator
    exit /b 1
)
echo registered: %library%
exit /b 0

:query
reg query "%key%" /v "%library%" >nul 2>nul
if errorlevel 1 (
    echo not registered: %library%
    exit /b 1
)
echo registered: %library%
exit /b 0

:remove
reg query "%key%" /v "%library%" >nul 2>nul
if errorlevel 1 (
    echo not registered: %library%
    exit /b 0
)
reg delete "%key%" /v "%library%" /f >nul
if errorlevel 1 (
    echo cannot write to %key%: run this script as administrator
    exit /b 1
)
echo removed: %library%
exit /b 0
