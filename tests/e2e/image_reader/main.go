// Reads an image archive with the libraries that others read it with, and prints what they found as JSON:
//
//	image_reader ARCHIVE FOLDER
//
// go-containerregistry (of crane, ko and skaffold) validates every digest, size and layer of the OCI layout, and reads
// manifest.json as `docker load` does. containerd's own import (of ctr, nerdctl, kind and k3s) imports the archive into a
// content store below FOLDER, with the names that it would give.
package main

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/containerd/v2/core/images/archive"
	"github.com/containerd/containerd/v2/plugins/content/local"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// One file of the root file system, after all layers.
type file struct {
	Mode int64  `json:"mode"`
	User int    `json:"user"`
	Size int64  `json:"size"`
	Link string `json:"link,omitempty"`
	Kind string `json:"kind"`
}

type platformImage struct {
	Platform string          `json:"platform"`
	Digest   string          `json:"digest"`
	Config   *v1.ConfigFile  `json:"config"`
	Files    map[string]file `json:"files"`
	// What a registry lists as referrers of the image, after `crane push`.
	Referrers []referrer `json:"referrers"`
}

type referrer struct {
	ArtifactType string `json:"artifactType"`
	// Its only blob.
	Content string `json:"content"`
}

type containerdImage struct {
	Name      string   `json:"name"`
	Platforms []string `json:"platforms"`
}

type report struct {
	Entries    int               `json:"entries"`
	Images     []platformImage   `json:"images"`
	DockerTags []string          `json:"dockerTags"`
	Docker     string            `json:"docker"`
	Containerd []containerdImage `json:"containerd"`
	// The digest in a registry, after `crane push`.
	Pushed string `json:"pushed"`
}

func main() {
	found, err := read(os.Args[1], os.Args[2])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(found)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(path, folder string) (report, error) {
	var found report
	folder, err := filepath.Abs(folder)
	if err != nil {
		return found, err
	}
	if err := unpack(path, filepath.Join(folder, "layout")); err != nil {
		return found, fmt.Errorf("unpack: %w", err)
	}
	if err := readLayout(filepath.Join(folder, "layout"), &found); err != nil {
		return found, fmt.Errorf("OCI layout: %w", err)
	}
	if err := readDocker(path, &found); err != nil {
		return found, fmt.Errorf("docker: %w", err)
	}
	if err := readContainerd(path, filepath.Join(folder, "content"), &found); err != nil {
		return found, fmt.Errorf("containerd: %w", err)
	}
	return found, nil
}

func unpack(path, folder string) error {
	archive, err := os.Open(path)
	if err != nil {
		return err
	}
	defer archive.Close()
	for reader := tar.NewReader(archive); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		target := filepath.Join(folder, filepath.Clean("/"+header.Name))
		if header.Typeflag == tar.TypeDir {
			if err := os.MkdirAll(target, 0o755); err != nil {
				return err
			}
			continue
		}
		content, err := io.ReadAll(reader)
		if err == nil {
			err = os.WriteFile(target, content, 0o644)
		}
		if err != nil {
			return err
		}
	}
}

func readLayout(folder string, found *report) error {
	index, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		return err
	}
	if err := validate.Index(index); err != nil {
		return err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return err
	}
	found.Entries = len(manifest.Manifests)
	server := httptest.NewServer(registry.New(
		registry.Logger(log.New(io.Discard, "", 0)), registry.WithReferrersSupport(true),
	))
	defer server.Close()
	target, err := name.ParseReference(strings.TrimPrefix(server.URL, "http://") + "/team/controller:1")
	if err != nil {
		return err
	}
	if found.Pushed, err = push(target, index, manifest.Manifests); err != nil {
		return fmt.Errorf("push: %w", err)
	}
	inner, err := index.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		return err
	}
	platforms, err := inner.IndexManifest()
	if err != nil {
		return err
	}
	for _, platform := range platforms.Manifests {
		if platform.ArtifactType != "" {
			continue
		}
		if err := readImage(inner, platform, found); err != nil {
			return err
		}
		image := &found.Images[len(found.Images)-1]
		if image.Referrers, err = referrers(target.Context().Digest(platform.Digest.String())); err != nil {
			return fmt.Errorf("referrers: %w", err)
		}
	}
	return nil
}

// What a registry answers when it is asked for the referrers of an image.
func referrers(subject name.Digest) ([]referrer, error) {
	index, err := remote.Referrers(subject)
	if err != nil {
		return nil, err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	found := []referrer{}
	for _, entry := range manifest.Manifests {
		artifact, err := remote.Image(subject.Context().Digest(entry.Digest.String()))
		if err != nil {
			return nil, err
		}
		layers, err := artifact.Layers()
		if err != nil {
			return nil, err
		}
		if len(layers) != 1 {
			return nil, fmt.Errorf("%s has %d blobs", entry.Digest, len(layers))
		}
		blob, err := layers[0].Compressed()
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(blob)
		if err != nil {
			return nil, err
		}
		// This registry lists the type of the config; others list that of the artifact.
		raw, err := artifact.RawManifest()
		if err != nil {
			return nil, err
		}
		var described struct {
			ArtifactType string `json:"artifactType"`
		}
		if err := json.Unmarshal(raw, &described); err != nil {
			return nil, err
		}
		found = append(found, referrer{ArtifactType: described.ArtifactType, Content: string(content)})
	}
	return found, nil
}

// Pushes the one entry of an archive, as `crane push` does.
func push(target name.Reference, index v1.ImageIndex, entries []v1.Descriptor) (string, error) {
	if len(entries) != 1 || !entries[0].MediaType.IsIndex() {
		return "", errors.New("the only entry is no index")
	}
	inner, err := index.ImageIndex(entries[0].Digest)
	if err == nil {
		err = remote.WriteIndex(target, inner)
	}
	if err != nil {
		return "", err
	}
	head, err := remote.Head(target)
	if err != nil {
		return "", err
	}
	return head.Digest.String(), nil
}

func readImage(index v1.ImageIndex, entry v1.Descriptor, found *report) error {
	image, err := index.Image(entry.Digest)
	if err != nil {
		return err
	}
	if err := validate.Image(image); err != nil {
		return err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return err
	}
	files := map[string]file{}
	merged := mutate.Extract(image)
	defer merged.Close()
	for reader := tar.NewReader(merged); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		files["/"+filepath.Clean(header.Name)] = file{
			Mode: header.Mode, User: header.Uid, Size: header.Size, Link: header.Linkname, Kind: string(header.Typeflag),
		}
	}
	found.Images = append(found.Images, platformImage{
		Platform: entry.Platform.String(), Digest: entry.Digest.String(), Config: config, Files: files,
	})
	return nil
}

func readDocker(path string, found *report) error {
	manifest, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return os.Open(path) })
	if err != nil {
		return err
	}
	for _, entry := range manifest {
		found.DockerTags = append(found.DockerTags, entry.RepoTags...)
	}
	image, err := tarball.ImageFromPath(path, nil)
	if err != nil {
		return err
	}
	if err := validate.Image(image); err != nil {
		return err
	}
	config, err := image.ConfigName()
	found.Docker = config.String()
	return err
}

func readContainerd(path, folder string, found *report) error {
	store, err := local.NewStore(folder)
	if err != nil {
		return err
	}
	archiveFile, err := os.Open(path)
	if err != nil {
		return err
	}
	defer archiveFile.Close()
	ctx := context.Background()
	top, err := archive.ImportIndex(ctx, store, archiveFile)
	if err != nil {
		return err
	}
	children, err := images.Children(ctx, store, top)
	if err != nil {
		return err
	}
	for _, child := range children {
		platforms, err := images.Platforms(ctx, store, child)
		if err != nil {
			return err
		}
		named := containerdImage{Name: child.Annotations[images.AnnotationImageName]}
		for _, platform := range platforms {
			if platform.OS == "unknown" { // no image
				continue
			}
			named.Platforms = append(named.Platforms, platform.OS+"/"+platform.Architecture)
			isWhole, _, _, _, err := images.Check(ctx, store, child, only(platform))
			if err != nil || !isWhole {
				return fmt.Errorf("%s is not whole: %w", platform.Architecture, err)
			}
		}
		found.Containerd = append(found.Containerd, named)
	}
	return nil
}

// Matches one platform.
type only ocispec.Platform

func (one only) Match(platform ocispec.Platform) bool {
	return platform.OS == one.OS && platform.Architecture == one.Architecture
}

func (one only) Less(ocispec.Platform, ocispec.Platform) bool { return false }
